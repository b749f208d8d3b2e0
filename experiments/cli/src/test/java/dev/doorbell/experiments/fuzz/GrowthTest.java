package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.fuzz.growth.StepCounting;
import dev.doorbell.experiments.fuzz.growth.Steps;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Twice the input is at most twice the work, for each reader: steps and allocated bytes are
 * counted, not time. {@code -Ddoorbell.fuzz.targets=} names some readers.
 */
@Tag("slow")
class GrowthTest {
  /** In hundredths: 200, and what does not divide evenly, such as tables that grow. */
  private static final int MOST = 270;

  @TempDir private static Path folder;

  private static List<String[]> measured = List.of();

  static List<String> chosen() {
    return Targets.chosen();
  }

  @BeforeAll
  static void measure() throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.awt.headless=true",
                "-javaagent:" + agent(),
                "-cp",
                System.getProperty("java.class.path"),
                Growth.class.getName()));
    command.addAll(chosen());
    Process child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    int status;
    try {
      status = child.waitFor();
    } finally {
      child.destroyForcibly();
    }
    String said = Files.readString(out);
    assertThat(status).as(said).isZero();
    measured =
        said.lines()
            .filter(line -> line.startsWith("growth\t"))
            .map(line -> line.split("\t", -1))
            .toList();
  }

  /** The classes that the virtual machine needs before any other. */
  private static Path agent() throws IOException {
    Path jar = folder.resolve("agent.jar");
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.putValue("Premain-Class", StepCounting.class.getName());
    main.putValue("Can-Retransform-Classes", "true");
    main.putValue("Boot-Class-Path", "agent.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      String name = Steps.class.getName().replace('.', '/') + ".class";
      out.putNextEntry(new JarEntry(name));
      try (InputStream in = Steps.class.getResourceAsStream("/" + name)) {
        in.transferTo(out);
      }
    }
    return jar;
  }

  @ParameterizedTest
  @MethodSource("chosen")
  void twice_the_input_is_at_most_twice_the_work(String name) {
    List<String[]> own = measured.stream().filter(line -> line[1].equals(name)).toList();
    assertThat(own).hasSizeGreaterThan(20);
    for (String[] line : own) {
      assertThat(Integer.parseInt(line[3])).as("steps of %s, '%s'", name, line[2]).isLessThan(MOST);
      assertThat(Integer.parseInt(line[4])).as("bytes of %s, '%s'", name, line[2]).isLessThan(MOST);
    }
  }
}
