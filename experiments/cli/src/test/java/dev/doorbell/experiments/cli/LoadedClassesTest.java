package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The classes that a JVM loads for one command line. */
class LoadedClassesTest {
  @TempDir private Path folder;

  @Test
  void a_run_on_emulated_devices_loads_no_class_of_the_doctor() throws Exception {
    Path classes = folder.resolve("classes.txt");
    List<String> command =
        TestProgram.java("-XX:TieredStopAtLevel=1", "-Xlog:class+load:file=" + classes);
    command.addAll(List.of(Main.class.getName(), "run", "pull-vs-push"));
    command.addAll(List.of("--out", folder + "/runs", "-q"));
    for (String setting : List.of("size=64", "placement=same-switch", "path=pull")) {
      command.addAll(List.of("-s", setting));
    }
    try (TestProgram program = TestProgram.start(folder, command)) {
      program.succeed();
    }
    assertThat(Files.readString(classes))
        .contains("dev.doorbell.experiments.cli.run.RunCommand ")
        .doesNotContain("dev.doorbell.doctor.");
  }
}
