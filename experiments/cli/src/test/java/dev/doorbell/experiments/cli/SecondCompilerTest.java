package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs that begin with the first compiler alone. Each JVM prints its options when it starts. */
@EnabledOnOs(OS.LINUX)
@Tag("slow") // JVMs of many seconds
class SecondCompilerTest {
  private static final String FIRST_ALONE = "-XX:TieredStopAtLevel=1";

  @TempDir private Path folder;

  @Test
  void a_long_run_begins_anew_with_both_compilers_in_the_same_process() throws Exception {
    try (TestProgram run = run("-Ddoorbell.second.compiler=0.001", FIRST_ALONE)) {
      assertThat(run.await()).as(run.said()).isZero();
      List<String> started = starts(run);
      assertThat(started).hasSize(2);
      assertThat(started.getFirst()).contains(FIRST_ALONE);
      assertThat(started.getLast()).doesNotContain("TieredStopAtLevel");
      assertThat(run.said()).containsOnlyOnce("1 of 1 points verified").containsOnlyOnce("est. ");
    }
  }

  @Test
  void a_short_run_does_not() throws Exception {
    try (TestProgram run = run("-Ddoorbell.second.compiler=1000", FIRST_ALONE)) {
      assertThat(run.await()).as(run.said()).isZero();
      assertThat(starts(run)).singleElement().asString().contains(FIRST_ALONE);
    }
  }

  @Test
  void the_users_own_choice_of_compilers_stays() throws Exception {
    try (TestProgram run = run("-Ddoorbell.second.compiler=0", FIRST_ALONE, FIRST_ALONE)) {
      assertThat(run.await()).as(run.said()).isZero();
      assertThat(starts(run)).hasSize(2).allSatisfy(line -> assertThat(line).contains(FIRST_ALONE));
    }
  }

  private TestProgram run(String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            TestProgram.java(
                Stream.concat(
                        Stream.of("-XX:+UseSerialGC", "-XX:+PrintCommandLineFlags"),
                        Stream.of(options))
                    .toArray(String[]::new)));
    command.addAll(List.of(Main.class.getName(), "run", "pull-vs-push", "--out"));
    command.add(folder.resolve("runs of ä").toString());
    command.addAll(List.of("-s", "size=64", "-s", "path=pull", "-s", "placement=same-switch"));
    return TestProgram.start(folder, command);
  }

  private static List<String> starts(TestProgram run) throws Exception {
    return run.said().lines().filter(line -> line.startsWith("-XX:")).toList();
  }
}
