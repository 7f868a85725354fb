# An installed copy is complete, serves a C program, and goes again.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

root=$tmp/root
lib=$root/usr/lib

make_here()
{
    make -s -C "$TOP" BUILD="${BUILD#"$TOP"/}" DESTDIR="$root" PREFIX=/usr "$@"
}

# With the flags of the products: a sanitized or counting library needs its runtime.
compile() # ARG...
{
    # shellcheck disable=SC2086 # words
    ${CC:-cc} ${CFLAGS-} ${LDFLAGS-} ${SANITIZE:+-fsanitize=$SANITIZE} -pthread \
        "$TOP/tests/tools/example.c" -I"$root/usr/include" "$@"
}

# The same with nothing but what cordon.pc says.
compile_by_pkg_config() # ARG...
{
    flags=$(PKG_CONFIG_LIBDIR="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
        pkg-config --cflags --libs cordon) || return
    # shellcheck disable=SC2086 # words
    ${CC:-cc} ${CFLAGS-} ${LDFLAGS-} ${SANITIZE:+-fsanitize=$SANITIZE} \
        "$TOP/tests/tools/example.c" "$@" $flags
}

only_the_api() # LIBRARY
{
    symbols=$(nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }')
    [ -n "$symbols" ] && ! echo "$symbols" | grep -v '^cordon_'
}

no_file_left()
{
    [ -z "$(find "$root" ! -type d)" ]
}

check install make_here install
for file in bin/cordon include/cordon.h lib/libcordon.a lib/libcordon.so lib/libcordon.so.0 \
    lib/pkgconfig/cordon.pc; do
    check "$file" test -s "$root/usr/$file"
done
for page in "$TOP"/resolver/*.3 "$TOP"/shim/command/*.1; do
    [ ! -e "$page" ] || check "${page##*/}" test -s "$root/usr/share/man/man${page##*.}/${page##*/}"
done
check pc_names_prefix grep -qx prefix=/usr "$lib/pkgconfig/cordon.pc"
check only_the_api_is_visible only_the_api "$lib/libcordon.a"

check compile_static compile -o "$tmp/static" "$lib/libcordon.a"
check run_static "$tmp/static" "$tmp"
check compile_dynamic compile -o "$tmp/dynamic" -L"$lib" -lcordon
check run_dynamic env LD_LIBRARY_PATH="$lib" "$tmp/dynamic" "$tmp"
if command -v pkg-config >/dev/null; then
    check compile_by_pkg_config compile_by_pkg_config -o "$tmp/by-pkg-config"
    check run_by_pkg_config env LD_LIBRARY_PATH="$lib" "$tmp/by-pkg-config" "$tmp"
else
    skip compile_by_pkg_config "no pkg-config here"
fi

# The command finds the shim where it was put.
if [ -e "$lib/libcordon-shim.so" ] && [ -z "${SANITIZE-}" ] && ! grep -q libgcov "$lib/libcordon-shim.so"; then
    mkdir "$tmp/ws"
    check installed_command_runs "$root/usr/bin/cordon" -C "$tmp/ws" -- touch made
    check installed_command_ran test -e "$tmp/ws/made"
fi

check uninstall make_here uninstall
check no_file_left no_file_left
summary
