package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalibrateCommandTest {
  private final Session session = new Session();

  @ParameterizedTest
  @CsvSource({
    "--gpu,      moon,         'moon' is no GPU",
    "--samples,  2,            2 is not from 3 to 100000",
    "--samples,  100001,       100001 is not from 3 to 100000",
    "--output,   machine.yaml, 'machine.yaml' does not end in .json",
    "--topology, nowhere,      nowhere",
  })
  void a_bad_option_is_refused_before_anything_is_measured(
      String option, String value, String problem) {
    assertThat(session.type("calibrate", option, value)).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains(problem);
  }
}
