# A compiler and a virtual machine with many threads of its own.
# needs javac: no javac here
# vague: *.class
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    cat >Main.java <<'END'
import java.nio.file.*;

class Main {
    public static void main(String[] args) throws Exception {
        Path path = args.length > 0 ? Path.of(args[0]) : Files.writeString(Path.of("file"), "text\n");
        System.out.print(Files.readString(path));
        Files.createDirectories(Path.of("a/b"));
        Files.move(path, Path.of("a/b/file"));
        Path temporary = Files.createTempFile(Path.of("a"), "x", "y");
        Files.copy(Path.of("a/b/file"), temporary, StandardCopyOption.REPLACE_EXISTING);
        System.out.println(Files.size(temporary) + " " + Files.exists(Path.of("none")));
        Files.delete(temporary);
        System.out.println(new ProcessBuilder("cat", "a/b/file").inheritIO().start().waitFor());
    }
}
END
    javac Main.java
    java -cp . Main
}

outside()
{
    inside >/dev/null
    java -cp . Main "$OUT/secret"
}
