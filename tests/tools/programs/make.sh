# A small C project: make with two jobs, the compiler, a library, and what they built.
# needs make: package make
# needs gcc: package gcc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    mkdir src
    for name in one two three four; do
        printf '#include "all.h"\nint %s(void)\n{\n    return %d;\n}\n' $name ${#name} >src/$name.c
        echo "int $name(void);" >>src/all.h
    done
    cat >src/main.c <<'END'
#include "all.h"
#include <stdio.h>

int main(void)
{
    return printf("%d\n", one() + two() + three() + four()) < 0;
}
END
    cat >Makefile <<'END'
objects = $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))
all: program library.so
	$(MAKE) -C . again
again:
	@echo again in $(notdir $(CURDIR))
program: $(objects)
	gcc -o $@ $^
library.so: $(filter-out %/main.o,$(objects))
	gcc -shared -o $@ $^
build/%.o: src/%.c src/all.h
	@mkdir -p $(@D)
	gcc -O1 -g -fPIC -MMD -c -o $@ $<
-include $(wildcard build/*.d)
END
    # The order of the lines is the jobs' own.
    make -j2 | sort
    ./program
    make
    touch src/one.c && make -s -j2
    nm -D --defined-only library.so | grep -c ' T '
    ar rcs library.a build/one.o build/two.o && ar t library.a
    echo 'int main(void) { return 0 }' >bad.c
    gcc -c bad.c || echo failed
    strip -o stripped program && ./stripped
}

outside()
{
    printf '#include "%s/secret"\n' "$OUT" >thief.c
    gcc -E -P thief.c
}
