package dev.doorbell.experiments.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The launcher {@code doorbell}, in a folder of its own with a Maven that only ends. */
class LauncherTest {
  @TempDir private Path folder;
  private String said = "";

  private int test(String maven) throws IOException, InterruptedException {
    ProcessBuilder launcher = checkout(maven, "test");
    launcher.environment().put("JAVA_HOME", System.getProperty("java.home"));
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      int status = run.await();
      said = run.said();
      return status;
    }
  }

  @Test
  void too_few_open_files_are_named_before_a_jvm_stumbles_over_them()
      throws IOException, InterruptedException {
    ProcessBuilder launcher = checkout("exit 0", "list");
    launcher.command(
        "bash", "-c", "ulimit -n 40; exec bash '" + folder.resolve("doorbell") + "' list");
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isEqualTo(4);
      assertThat(run.said()).contains("only 40 open files", "ulimit -n 1024");
    }
  }

  @Test
  void a_missing_proc_is_named_before_a_shell_stumbles_over_it()
      throws IOException, InterruptedException {
    Process namespace = new ProcessBuilder("unshare", "-m", "umount", "-l", "/proc").start();
    assumeTrue(namespace.waitFor() == 0, "mounts of one's own need root");
    ProcessBuilder launcher = checkout("exit 0", "list");
    String line = "umount -l /proc; exec bash '" + folder.resolve("doorbell") + "' list";
    launcher.command("unshare", "-m", "bash", "-c", line);
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isEqualTo(4);
      assertThat(run.said()).contains("no /proc is mounted here", "mount -t proc proc /proc");
    }
  }

  @Test
  void sums_of_a_package_are_signed_and_whoever_has_the_public_key_sees_a_change()
      throws IOException, InterruptedException {
    Path release = Files.createDirectories(folder.resolve("release/maven"));
    Files.writeString(release.resolve("core.jar"), "a jar");
    Files.writeString(release.resolveSibling("doorbell.tar.xz"), "an archive");
    String keys =
        "openssl genpkey -algorithm RSA -out key.pem && openssl pkey -in key.pem -pubout -out public.pem";
    assumeTrue(
        shell("command -v openssl") == 0, "no openssl; install it ('apt-get install openssl')");
    assertThat(shell(keys)).as(said).isZero();
    ProcessBuilder launcher =
        checkout("exit 0", "package", "--sums", "" + folder.resolve("release"));
    launcher.environment().put("DOORBELL_SIGNING_KEY", folder.resolve("key.pem").toString());
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      run.succeed();
    }
    String check =
        "openssl dgst -sha256 -verify public.pem -signature release/SHA256SUMS.sig"
            + " release/SHA256SUMS && cd release && sha256sum -c SHA256SUMS";
    assertThat(shell(check)).as(said).isZero();
    assertThat(said).contains("./maven/core.jar: OK", "./doorbell.tar.xz: OK");
    Files.writeString(release.resolve("core.jar"), "another jar");
    assertThat(shell(check)).as(said).isNotZero();
    assertThat(said).contains("./maven/core.jar: FAILED");
    assertThat(shell("cd release && sha256sum maven/core.jar >SHA256SUMS")).isZero();
    assertThat(shell(check)).as(said).isNotZero();
    assertThat(said).contains("Verification failure");
    launcher.environment().put("DOORBELL_SIGNING_KEY", folder.resolve("public.pem").toString());
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isNotZero();
      assertThat(run.said()).contains("cannot be signed with", "a private key in PEM");
    }
    assertThat(folder.resolve("release/SHA256SUMS.sig")).doesNotExist();
  }

  private int shell(String line) throws IOException, InterruptedException {
    ProcessBuilder bash = new ProcessBuilder("bash", "-c", line).directory(folder.toFile());
    try (TestProgram run = TestProgram.start(folder, bash)) {
      int status = run.await();
      said = run.said();
      return status;
    }
  }

  private ProcessBuilder checkout(String maven, String... arguments) throws IOException {
    Files.copy(
        Path.of("..", "doorbell"), folder.resolve("doorbell"), StandardCopyOption.REPLACE_EXISTING);
    Path launcherSources = Files.createDirectories(folder.resolve("host-runtime/launcher"));
    try (Stream<Path> sources = Files.list(Path.of("..", "host-runtime", "launcher"))) {
      for (Path source : sources.toList()) {
        Files.copy(
            source,
            launcherSources.resolve(source.getFileName()),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
    Files.writeString(
        folder.resolve("pom.xml"),
        """
        <project>
          <modules/>
          <properties>
            <maven.compiler.release>25</maven.compiler.release>
            <test.argLine/>
            <tests.minutes>1</tests.minutes>
          </properties>
        </project>
        """);
    Path bin = Files.createDirectories(folder.resolve("bin"));
    program(bin.resolve("mvn"), maven);
    List<String> command = new ArrayList<>(List.of("bash", folder.resolve("doorbell").toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder launcher = new ProcessBuilder(command);
    launcher.environment().merge("PATH", bin + ":", (path, first) -> first + path);
    return launcher;
  }

  private static void program(Path file, String body) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** An archive as JDKs come, whose tools are those of the JDK that runs this test. */
  private byte[] jdk(String version) throws Exception {
    Path jdk = Files.createDirectories(folder.resolve("made/jdk-" + version));
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    for (String tool : List.of("java", "javac")) {
      program(
          jdk.resolve("bin").resolve(tool),
          "exec '%s/bin/%s' \"$@\"".formatted(System.getProperty("java.home"), tool));
    }
    Path archive = folder.resolve("jdk.tar.gz");
    assertThat(
            new ProcessBuilder(
                    "tar", "-czf", archive.toString(), "-C", folder.resolve("made").toString(), ".")
                .start()
                .waitFor())
        .isZero();
    return Files.readAllBytes(archive);
  }

  /** Runs the launcher with a JDK that a server on loopback has at {@code name}. */
  private int fetched(String name, String seconds, HttpHandler handler, String sum)
      throws Exception {
    // The class reads it once, and a server of pages in this JVM relies on it.
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/" + name, handler);
    server.start();
    try {
      ProcessBuilder launcher = checkout("echo made with $JAVA_HOME", "test", "--version");
      launcher.environment().put("XDG_CACHE_HOME", folder.resolve("cache").toString());
      launcher
          .environment()
          .put(
              "DOORBELL_JDK_URL",
              "http://127.0.0.1:%d/%s".formatted(server.getAddress().getPort(), name));
      launcher.environment().put("DOORBELL_JDK_SHA256", sum);
      launcher.environment().put("DOORBELL_FETCH_SECONDS", seconds);
      try (TestProgram run = TestProgram.start(folder, launcher)) {
        int status = run.await();
        said = run.said();
        return status;
      }
    } finally {
      server.stop(0);
    }
  }

  private static HttpHandler serving(byte[] body) {
    return exchange -> {
      exchange.sendResponseHeaders(200, body.length);
      try (exchange) {
        exchange.getResponseBody().write(body);
      }
    };
  }

  private static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  @Test
  void a_jdk_is_fetched_and_used() throws Exception {
    byte[] archive = jdk("25.0.4");

    assertThat(fetched("good", "60", serving(archive), sha256(archive))).as(said).isZero();

    try (Stream<Path> kept = Files.list(folder.resolve("cache/doorbell"))) {
      assertThat(kept).singleElement().asString().contains("/jdk-of-");
    }
    assertThat(folder.resolve("target/dist/test.log"))
        .content()
        .contains("made with " + folder.resolve("cache/doorbell/jdk-of-"));
  }

  @Test
  void a_cut_or_changed_archive_is_not_used() throws Exception {
    byte[] archive = jdk("25.0.4");
    byte[] cut = Arrays.copyOf(archive, archive.length - 1);

    assertThat(fetched("cut", "60", serving(cut), sha256(archive))).isEqualTo(4);
    assertThat(said).contains("cut or changed", sha256(archive), sha256(cut));
    try (Stream<Path> kept = Files.list(folder.resolve("cache/doorbell"))) {
      assertThat(kept).isEmpty();
    }

    assertThat(fetched("text", "60", serving("no archive".getBytes(UTF_8)), "")).isEqualTo(4);
    assertThat(said).contains("is not a whole .tar.gz");
  }

  @Test
  void an_older_jdk_is_refused_by_its_address() throws Exception {
    assertThat(fetched("old", "60", serving(jdk("24.0.1")), "")).isEqualTo(4);
    assertThat(said).contains("/old is no JDK 25 or later");
  }

  @Test
  void a_slow_server_is_given_up() throws Exception {
    CountDownLatch over = new CountDownLatch(1);

    int status =
        fetched(
            "slow",
            "1",
            exchange -> {
              exchange.sendResponseHeaders(200, 1000);
              exchange.getResponseBody().write(1);
              exchange.getResponseBody().flush();
              try {
                over.await(20, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "");
    over.countDown();

    assertThat(status).isEqualTo(4);
    assertThat(said).contains("cannot be fetched", "within 1 s");
  }

  @Test
  void without_a_terminal_nothing_is_fetched_unasked() throws Exception {
    ProcessBuilder launcher = checkout("exit 0", "test");
    launcher.environment().put("XDG_CACHE_HOME", folder.resolve("cache").toString());
    launcher.environment().put("JAVA_HOME", "");
    Path script = folder.resolve("doorbell");
    // No JDK of this machine counts.
    Files.writeString(
        script, Files.readString(script).replace("readonly WANTED=25", "readonly WANTED=99"));
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isEqualTo(4);
      assertThat(run.said())
          .contains("Doorbell needs JDK 99 or later; the newest here is JDK", "--yes ...");
    }
  }

  @Test
  void tests_that_fail_are_a_failure_whatever_is_shown_of_them() throws Exception {
    assertThat(test("echo '[ERROR] a test'; exit 3")).isEqualTo(3);
    assertThat(test("echo nothing that is shown; exit 4")).isEqualTo(4);
    assertThat(said).contains("the whole log is");
  }

  @Test
  void tests_that_pass_are_none_though_nothing_is_shown() throws Exception {
    assertThat(test("echo nothing that is shown")).isZero();
  }

  /** Starts the launcher of a bundle whose Java says what it is called with. */
  private List<String> bundled(String... files) throws IOException, InterruptedException {
    Files.copy(
        Path.of("..", "doorbell"), folder.resolve("doorbell"), StandardCopyOption.REPLACE_EXISTING);
    Path bin = Files.createDirectories(folder.resolve("runtime/bin"));
    Path java = Files.writeString(bin.resolve("java"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.createDirectories(folder.resolve("lib"));
    StringBuilder jars = new StringBuilder();
    for (String file : Arrays.stream(files).sorted().toList()) {
      Path made = Files.createFile(folder.resolve("lib").resolve(file));
      if (file.endsWith(".jar")) {
        Files.setLastModifiedTime(made, FileTime.fromMillis(1_000_000_000_250L));
        jars.append("%s 0 1000000000.250000000\n".formatted(file));
      }
    }
    Files.writeString(folder.resolve("lib/caches.jars"), jars);
    ProcessBuilder launcher =
        new ProcessBuilder("bash", folder.resolve("doorbell").toString(), "list", "topologies");
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isZero();
      return run.said().lines().toList();
    }
  }

  @Test
  void a_bundle_names_its_jars_in_one_order_and_its_cache() throws Exception {
    Path lib = folder.toRealPath().resolve("lib");

    List<String> words = bundled("b.jar", "C.jar", "a.jar", "doorbell.aot");

    assertThat(words)
        .containsSubsequence(
            "-XX:AOTCache=" + lib.resolve("doorbell.aot"),
            "-cp",
            lib.resolve("C.jar") + ":" + lib.resolve("a.jar") + ":" + lib.resolve("b.jar"),
            "dev.doorbell.experiments.Main",
            "list",
            "topologies");
  }

  @Test
  void a_bundle_whose_jars_are_newer_than_its_cache_does_without() throws Exception {
    bundled("a.jar", "doorbell.aot");
    Files.writeString(folder.resolve("lib/a.jar"), "another");

    ProcessBuilder launcher =
        new ProcessBuilder("bash", folder.resolve("doorbell").toString(), "list", "topologies");
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isZero();
      assertThat(run.said()).contains("dev.doorbell.experiments.Main").doesNotContain("AOT");
    }
  }

  @Test
  void a_bundle_without_a_cache_asks_for_none() throws Exception {
    assertThat(bundled("a.jar")).noneMatch(word -> word.contains("AOT"));
  }

  @Test
  void class_files_that_a_cache_would_leave_out_are_newer_and_do_the_same() throws Exception {
    Path old =
        Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path jar = Files.copy(old, folder.resolve("picocli.jar"));
    String program = Path.of("..", "host-runtime/launcher/OldClasses.java").toString();

    String tool = folder.resolve("tool").toString();
    assertThat(jdk("javac", "-d", tool, program)).isEmpty();
    assertThat(jdk("java", "-cp", tool, "dev.doorbell.launcher.OldClasses", folder.toString()))
        .isEmpty();

    try (JarFile written = new JarFile(jar.toFile());
        JarFile read = new JarFile(old.toFile())) {
      assertThat(written.stream().map(JarEntry::getName))
          .containsExactlyElementsOf(
              read.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName).toList());
      for (JarEntry entry : (Iterable<JarEntry>) written.stream()::iterator) {
        if (entry.getName().endsWith(".class")) {
          byte[] bytes = written.getInputStream(entry).readAllBytes();
          assertThat(ByteBuffer.wrap(bytes).getShort(6))
              .as(entry.getName())
              .isGreaterThanOrEqualTo((short) 50);
        }
      }
    }
    assertThat(jdk("java", "-cp", jar.toString(), "picocli.AutoComplete", "--help"))
        .contains("Generates a bash completion script");
  }

  private String jdk(String program, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", program).toString());
    command.addAll(List.of(words));
    try (TestProgram run = TestProgram.start(folder, new ProcessBuilder(command))) {
      assertThat(run.await()).as(run.said()).isZero();
      return run.said();
    }
  }
}
