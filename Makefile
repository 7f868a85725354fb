# make               build/cordon, libcordon-shim.so, libcordon.a, libcordon.so, cordon.pc
# make test          all tests, after installing what they need; the last line counts them
# make race          the race test with RACE_CALLS calls
# make fuzz          the differential test with FUZZ_CASES cases (SEED repeats a run), then every
#                    libFuzzer target for FUZZ_SECONDS, where clang has libFuzzer
# make bench         what a call costs, as ratios to the bare call
# make lint          format, static analysis, shell scripts, man pages
# make coverage      the tests, and a table of the lines they reach
# make install       to DESTDIR and PREFIX; uninstall takes it away again
# make clean         all but the fetched headers; distclean: all of build/
#
# Knobs: CC=clang  DEVELOPER=1 (warnings are errors, and there are more of them)
#        SANITIZE=address,undefined or thread  CFLAGS, CPPFLAGS, LDFLAGS as usual

VERSION = 0.1.0
SOVERSION = 0

PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
MANDIR = $(PREFIX)/share/man

RACE_CALLS = 2000000
FUZZ_CASES = 1000000
FUZZ_SECONDS = 30

CFLAGS ?= -O2 -g
CLANG = clang
OBJCOPY = objcopy

# Sanitized products stand apart, so that build/cordon always is the one to use.
comma := ,
BUILD = build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
FETCHED = build/include

warnings = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wformat=2
ifdef DEVELOPER
warnings += -Werror -Wundef -Wvla -Wpointer-arith -Wwrite-strings
endif
ifdef SANITIZE
sanitize = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

cppflags = -D_GNU_SOURCE -DCORDON_VERSION='"$(VERSION)"' -Iresolver -Ishim/preload -Ishim/backend \
	-Ishim/supervise -Ishim/command $(CPPFLAGS)
cflags = -std=c11 -fPIC -fvisibility=hidden -pthread $(warnings) $(sanitize) $(CFLAGS)
ldflags = -pthread $(sanitize) $(LDFLAGS)

# Only the os_*.c of this system is built.
platform := $(shell uname -s | tr A-Z a-z)
resolver := $(filter-out resolver/os_%.c,$(wildcard resolver/*.c)) \
	    $(wildcard resolver/os_$(platform).c)
# What libcordon offers of the backends goes by way of the command, and needs nothing else of them.
sandbox := shim/backend/sandbox.c
backend := $(filter-out $(sandbox),$(wildcard shim/backend/*.c)) shim/preload/image.c
library := $(resolver) $(sandbox) shim/backend/argv.c
# The bodies of the hooks run in the supervisor as well, on behalf of others.
bodies := $(addprefix shim/preload/,call.c known.c meta.c name.c open.c program.c record.c stat.c xattr.c)
supervise := $(wildcard shim/supervise/*.c) $(bodies)
command := $(wildcard shim/command/*.c) $(supervise)
# What stands between a wrapper and a command: a test program is that, too.
inner := shim/command/inner.c shim/command/say.c $(supervise)
preload := $(filter-out shim/preload/bind_%.c,$(wildcard shim/preload/*.c)) \
	   $(wildcard shim/preload/bind_$(platform).c)
unit := $(wildcard tests/unit/test_*.c)
race := $(wildcard tests/race/race.c)
matrix := $(wildcard tests/matrix/*.c)
differential := $(wildcard tests/fuzz/differential.c)
libfuzzer := $(wildcard tests/fuzz/fuzz_*.c)
bench := $(wildcard tests/bench/bench_*.c)

escape_harness := $(wildcard tests/escape/harness*.c)
escape_attacks := $(filter-out $(escape_harness) tests/escape/layer_%.c tests/escape/library_%.c \
	tests/escape/race.c,$(wildcard tests/escape/*.c))

# Programs that the supervisor has to do with, most of them without a library in between, and those
# that look on.
supervise_static := crowd flip gate peek same waits
supervise_dynamic := naive serve

unit_support := $(wildcard tests/unit/support*.c)
race_support := $(filter-out $(race),$(wildcard tests/race/*.c))
fuzz_support := $(filter-out $(differential) $(libfuzzer),$(wildcard tests/fuzz/*.c))
bench_support := $(wildcard tests/bench/support*.c)

man1 := $(wildcard shim/command/*.1)
man3 := $(wildcard resolver/*.3)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
tests = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit)) \
	$(race:tests/race/%.c=$(BUILD)/tests/%) \
	$(differential:tests/fuzz/%.c=$(BUILD)/tests/%) \
	$(if $(matrix),$(BUILD)/tests/matrix) \
	$(if $(escape_harness),$(addprefix $(BUILD)/tests/escape/,escape attack attack-static evil.so race)) \
	$(addprefix $(BUILD)/tests/supervise/,$(supervise_static) $(supervise_dynamic))
benches = $(bench:tests/bench/%.c=$(BUILD)/bench/%)
fuzzers = $(libfuzzer:tests/fuzz/%.c=$(BUILD)/fuzz/%)
libraries = $(BUILD)/libcordon.a $(BUILD)/libcordon.so.$(SOVERSION) $(BUILD)/libcordon.so
shim = $(if $(wildcard shim/preload/hooks.def),$(BUILD)/libcordon-shim.so)

.PHONY: all help test tests greatest race fuzz libfuzzer bench lint coverage install uninstall \
	clean distclean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(if $(command),$(BUILD)/cordon) $(shim) $(if $(resolver),$(libraries)) $(BUILD)/cordon.pc
tests: $(tests)

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

# Objects made with other flags, another compiler or other rules are out of date.
flags = $(CC) $(cppflags) $(cflags) $(ldflags)
ifneq ($(file <$(BUILD)/flags),$(flags))
.PHONY: $(BUILD)/flags
endif
$(BUILD)/flags: Makefile
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(flags))' >$@

$(BUILD)/obj/tests/%: includes = -isystem $(FETCHED)/greatest
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(cppflags) $(includes) $(cflags) -MMD -MP -c -o $@ $<

# In a clean clone the tests' header comes first.
test_objects = $(call objects,$(unit) $(unit_support) $(race) $(race_support) $(matrix) \
	$(differential) \
	$(fuzz_support) $(bench) $(bench_support) tests/bench/copy.c)
$(test_objects): | greatest
greatest:
	@scripts/fetch-greatest

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# Moved into place when whole: somebody may be starting the program right now.
define link
@mkdir -p $(@D)
$(CC) $(ldflags) -o $@.new $^ $(LDLIBS)
@mv -f $@.new $@
endef

$(BUILD)/cordon: $(call objects,$(command) $(backend) $(resolver))
	$(link)

# Exported are the names of the table and no others.
$(BUILD)/shim.map: shim/preload/hooks.def shim/preload/shim.map.in
	@mkdir -p $(@D)
	$(CC) $(cppflags) -E -P -x c shim/preload/shim.map.in >$@
$(BUILD)/libcordon-shim.so: $(call objects,$(preload) $(backend) $(resolver)) $(BUILD)/shim.map
	@mkdir -p $(@D)
	$(CC) $(ldflags) -shared -Wl,-z,initfirst -Wl,-z,now -Wl,--version-script=$(BUILD)/shim.map \
		-o $@.new $(sort $(filter %.o,$^))
	@mv -f $@.new $@
$(BUILD)/tests/test_%: $(BUILD)/obj/tests/unit/test_%.o \
		$(call objects,$(unit_support) $(inner) $(sandbox) $(backend) $(resolver))
	$(link)
$(BUILD)/tests/race: $(call objects,$(race) $(race_support) $(resolver))
	$(link)
$(BUILD)/tests/matrix: $(call objects,$(matrix) $(resolver))
	$(link)
$(BUILD)/tests/differential: $(call objects,$(differential) $(fuzz_support) $(resolver))
	$(link)
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(call objects,$(bench_support) $(resolver))
	$(link)

# The attacks, by libc and by raw system calls, and who makes them and looks on. A sanitizer's run
# time is no part of an attack.
escape = $(BUILD)/tests/escape
plain = $(cppflags) $(filter-out -fsanitize=% -fno-sanitize%,$(cflags)) $(filter-out -fsanitize=%,$(ldflags))
escape_made = $(escape_attacks) $(wildcard tests/escape/*.h) $(BUILD)/flags
$(escape)/attack: tests/escape/layer_libc.c $(escape_made)
	@mkdir -p $(@D)
	$(CC) $(plain) -o $@ $(filter %.c,$^) -ldl
$(escape)/attack-static: tests/escape/layer_raw.c $(escape_made)
	@mkdir -p $(@D)
	$(CC) $(plain) -static -o $@ $(filter %.c,$^)
$(escape)/evil.so: tests/escape/library_evil.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(plain) -shared -o $@ $<
$(escape)/race: tests/escape/race.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(plain) -o $@ $<
$(escape)/escape: $(call objects,$(escape_harness) $(filter-out %/main.c,$(escape_attacks)) \
		tests/escape/layer_libc.c shim/preload/image.c $(resolver))
	$(link)

# A program's files all begin with its name.
supervised = $(BUILD)/tests/supervise
supervised_files = $(wildcard tests/supervise/$(1).c tests/supervise/$(1)_*.c)
.SECONDEXPANSION:
$(addprefix $(supervised)/,$(supervise_static)): static = -static
$(addprefix $(supervised)/,$(supervise_static) $(supervise_dynamic)): \
		$$(call supervised_files,$$(@F)) $(wildcard tests/supervise/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(plain) $(static) -o $@ $(filter %.c,$^)

# One object, in which the names that the files share with each other have become local.
$(BUILD)/obj/libcordon.o: $(call objects,$(library))
	$(LD) -r -o $@ $^
	$(OBJCOPY) --localize-hidden $@

$(BUILD)/libcordon.a: $(BUILD)/obj/libcordon.o
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libcordon.so.$(SOVERSION): $(call objects,$(library)) resolver/libcordon.map
	$(CC) $(ldflags) -shared -Wl,-soname,$(@F) -Wl,--version-script=resolver/libcordon.map \
		-o $@ $(filter %.o,$^) $(LDLIBS)

$(BUILD)/libcordon.so: $(BUILD)/libcordon.so.$(SOVERSION)
	ln -sf $(<F) $@

# Always made anew: PREFIX may not be what it was the last time.
.PHONY: $(BUILD)/cordon.pc
$(BUILD)/cordon.pc: resolver/cordon.pc.in
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' $< >$@

# What bootstrap installs decides what can be built: hence a make of its own.
test:
	@scripts/bootstrap test
	@$(MAKE) --no-print-directory all tests
	@BUILD=$(BUILD) tests/run

race: $(filter %/race,$(tests))
	RACE_CALLS=$(RACE_CALLS) $<

fuzz: $(filter %/differential,$(tests))
	FUZZ_CASES=$(FUZZ_CASES) SEED=$${SEED:-$$(date +%s)} $<
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(CLANG) -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null; \
	then $(MAKE) --no-print-directory libfuzzer; \
	else echo 'fuzz: $(CLANG) has no libFuzzer here: its targets are left out' >&2; fi

libfuzzer: $(fuzzers)
	@set -e; for fuzzer in $^; do \
		mkdir -p $$fuzzer.corpus; \
		$$fuzzer -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$$fuzzer- $$fuzzer.corpus; \
	done

$(BUILD)/fuzz/%: tests/fuzz/%.c $(resolver) $(wildcard resolver/*.h tests/fuzz/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(cppflags) $(filter-out -fsanitize=%,$(cflags)) \
		-fsanitize=fuzzer,address,undefined -o $@ $(filter %.c,$^)

# Linked statically, and the benches do without it where that cannot be.
$(BUILD)/bench/plain: tests/bench/plain.c
	@mkdir -p $(@D)
	-$(CC) $(cppflags) $(warnings) $(CFLAGS) -static -o $@ $<

$(BUILD)/bench/copy-static: $(addprefix tests/bench/,copy.c support.c support_calls.c)
	@mkdir -p $(@D)
	-$(CC) $(cppflags) $(warnings) $(CFLAGS) -static -o $@ $^

bench: $(benches) all $(BUILD)/bench/plain $(BUILD)/bench/copy $(BUILD)/bench/copy-static
	@set -e; for program in $(benches); do $$program; done

c_files = $(wildcard resolver/*.[ch] shim/*/*.[ch] tests/*/*.[ch])
analysed = $(filter %.c,$(filter-out %_darwin.c,$(c_files)))
sh_files = $(wildcard scripts/* .ci/run tests/run tests/*/*.sh tests/tools/programs/*.sh)

lint:
	@scripts/bootstrap lint
	clang-format --dry-run -Werror $(c_files)
	@status=0; for file in $(analysed); do \
		echo clang-tidy $$file; \
		out=$$(clang-tidy --quiet $$file -- -std=c11 $(cppflags) \
			-isystem $(FETCHED)/greatest 2>&1) || { echo "$$out"; status=1; }; \
	done; exit $$status
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr \
		--enable=warning,performance,portability -D__$$(uname -m)__ $(cppflags) \
		$(filter-out tests/%,$(analysed))
	shellcheck -x $(sh_files)
	$(if $(man1)$(man3),mandoc -T lint -W warning $(man1) $(man3))

# Without optimization, else inlined lines count for nobody.
coverage:
	@scripts/bootstrap coverage
	@$(MAKE) --no-print-directory test BUILD=build/coverage LDFLAGS=--coverage \
		CFLAGS='-O0 -g --coverage -fprofile-update=atomic'
	@gcovr --root . --filter resolver/ --filter shim/ build/coverage

install: all
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) \
		$(MANDIR)/man1 $(MANDIR)/man3)
	install $(BUILD)/cordon $(DESTDIR)$(BINDIR)
	$(if $(shim),install -m 644 $(shim) $(DESTDIR)$(LIBDIR))
	install -m 644 resolver/cordon.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(BUILD)/libcordon.a $(BUILD)/libcordon.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libcordon.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libcordon.so
	install -m 644 $(BUILD)/cordon.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	$(if $(man1),install -m 644 $(man1) $(DESTDIR)$(MANDIR)/man1)
	$(if $(man3),install -m 644 $(man3) $(DESTDIR)$(MANDIR)/man3)

uninstall:
	rm -f $(addprefix $(DESTDIR),$(BINDIR)/cordon $(INCLUDEDIR)/cordon.h \
		$(addprefix $(LIBDIR)/,$(notdir $(libraries) $(shim)) pkgconfig/cordon.pc) \
		$(addprefix $(MANDIR)/man1/,$(notdir $(man1))) \
		$(addprefix $(MANDIR)/man3/,$(notdir $(man3))))

clean:
	rm -rf $(filter-out %/include,$(wildcard $(BUILD)/*))

distclean:
	rm -rf build
