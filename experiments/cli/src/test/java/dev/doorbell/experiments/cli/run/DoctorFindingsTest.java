package dev.doorbell.experiments.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.cli.run.PreparedRun.DoctorFindings;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Environment.Choice;
import org.junit.jupiter.api.Test;

class DoctorFindingsTest {
  private static Environment environment(String gpu, String hca) {
    return new Environment(
        new Choice(gpu, "requested"),
        new Choice(hca, "requested"),
        new Choice("wall", "requested"),
        Basis.MEASURED);
  }

  @Test
  void a_run_on_a_real_gpu_or_hca_records_what_the_doctor_finds() {
    assertThat(DoctorFindings.of(environment("cuda:0", "soft-hca")))
        .isNotEmpty()
        .allMatch(finding -> finding.code().startsWith("DB-"));
    assertThat(DoctorFindings.of(environment("ptx-vm", "mlx5_0"))).isNotEmpty();
  }

  @Test
  void an_emulated_run_records_nothing() {
    assertThat(DoctorFindings.of(environment("ptx-vm", "soft-hca"))).isEmpty();
  }
}
