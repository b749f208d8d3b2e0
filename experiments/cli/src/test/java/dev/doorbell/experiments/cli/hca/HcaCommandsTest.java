package dev.doorbell.experiments.cli.hca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.Session;
import dev.doorbell.experiments.cli.command.ExitCode;
import org.junit.jupiter.api.Test;

/** {@code doorbell hca} as it is typed. */
class HcaCommandsTest {
  private final Session user = new Session();

  @Test
  void an_action_that_is_none_is_refused_with_the_nearest_one() {
    assertThat(user.type("hca", "stat", "5000")).isEqualTo(ExitCode.USAGE);
    assertThat(user.err()).contains("DB-U001").contains("stats");
    assertThat(user.type("hca")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "stats", "nowhere")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "pcap", "5000", "begin")).isEqualTo(ExitCode.USAGE);
    assertThat(user.type("hca", "serve", "--mtu", "1000")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void an_hca_that_nobody_serves_is_a_matter_of_the_environment() {
    assertThat(user.type("hca", "stats", "127.0.0.1:1", "--timeout", "1"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(user.err()).contains("DB-E041").contains("127.0.0.1:1").contains("fix");
  }
}
