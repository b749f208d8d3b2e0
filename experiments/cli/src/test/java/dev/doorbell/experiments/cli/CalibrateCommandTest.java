package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CalibrateCommandTest {
  private static final String SAMPLES =
      """
      {"measured_on": "NVIDIA H200", "basis": "measured", "measurements": [
        {"name": "load", "what": "weak load", "unit": "ns", "samples": [140, 142, 144]},
        {"name": "store", "what": "weak store", "unit": "ns", "samples": [5, 5, 5]},
        {"name": "round", "what": "a round", "unit": "ns", "samples": [20, 20, 20]},
        {"name": "launch", "what": "launch of a kernel", "unit": "ns", "samples": [9000]}]}
      """;

  @TempDir private Path folder;
  private final Session session = new Session();

  @Test
  void samples_of_an_earlier_run_become_a_machine_file_and_are_compared_with_it() throws Exception {
    Path earlier = Files.writeString(folder.resolve("earlier.json"), SAMPLES);
    Path machine = folder.resolve("machine.json");

    ExitCode code =
        session.type("calibrate", "--measured", earlier.toString(), "--output", machine.toString());

    assertThat(session.err()).isEmpty();
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines())
        .anyMatch(line -> line.matches("load +142.+ ns .+ 141.+ -0.4 %  weak load"))
        .anyMatch(line -> line.matches("launch +9000 .* - +-  launch of a kernel"))
        .anyMatch(line -> line.equals("model    2 of 2 prices within 10 %"))
        .anyMatch(line -> line.startsWith("MEASURED RESULT (samples of " + earlier + ")"));
    var gpu = TopologyFile.load(machine.toString()).gpus().getFirst();
    assertThat(gpu.instruction()).isEqualTo(3);
    assertThat(gpu.load()).isEqualTo(139);
  }

  @Test
  void a_file_without_samples_is_refused_with_what_to_name_instead() {
    assertThat(session.type("calibrate", "--measured", "same-switch")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-T005", "same-switch", "a file that calibrate wrote");
  }
}
