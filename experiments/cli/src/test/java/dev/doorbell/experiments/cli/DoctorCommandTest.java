package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DoctorCommandTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  /** A GPU that nobody drives, which is broken, in the fewest files. */
  private Path broken() throws IOException {
    Path gpu = Files.createDirectories(folder.resolve("sys/devices/pci0000:00/0000:00:04.0"));
    Files.writeString(gpu.resolve("vendor"), "0x10de\n");
    Files.writeString(gpu.resolve("class"), "0x030200\n");
    Path bus = Files.createDirectories(folder.resolve("sys/bus/pci/devices"));
    Files.createSymbolicLink(
        bus.resolve("0000:00:04.0"), Path.of("../../../devices/pci0000:00/0000:00:04.0"));
    return folder;
  }

  @Test
  void absent_hardware_is_no_failure_and_what_works_is_said() {
    assertThat(session.type("doctor", "--root", folder.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .isEqualTo(
            """
            kernel unknown   cpu unknown

            ABSENT  DB-DRIVER-05     no NVIDIA GPU (none on the PCI bus)
            ABSENT  DB-RDMA-06       no RDMA device (none that is hardware)
            ABSENT  DB-PEERMEM-07    no pair of GPU and HCA (no usable GPU, no HCA)

            this machine can
              yes      PTX VM and software HCA: demo, run, explore, kernel, hca
              no       kernels on a GPU                                          DB-DRIVER-05
              no       an HCA that reads and writes GPU memory                   DB-DRIVER-05
              no       a GPU that rings the HCA's doorbell                       DB-DRIVER-05

            0 passed, 0 info, 3 absent, 0 warned, 0 failed
            """);
  }

  @Test
  void something_broken_is_exit_4_with_effect_and_fix() throws IOException {
    assertThat(session.type("doctor", "--root", broken().toString(), "-q"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(session.out())
        .isEqualTo(
            """
            FAIL    DB-DRIVER-04     an NVIDIA GPU without a driver
                    0000:00:04.0: NVIDIA's driver is not loaded
                    effect  CUDA does not see the GPU.
                    fix     install NVIDIA's driver and load it: modprobe nvidia
            FAIL    DB-BAR-03        BAR1 has no address
                    0000:00:04.0: BAR1 is unassigned
                    effect  The driver does not start ("BAR1 is 0M @ 0x0" in dmesg), and nothing can reach the
                            GPU's memory.
                    fix     switch on "Above 4G decoding" in the firmware, or boot with pci=realloc
            """);
  }

  @Test
  void json_has_findings_ports_and_counts() throws IOException {
    session.type("doctor", "--root", broken().toString(), "--json");
    JsonNode report = JsonMapper.shared().readTree(session.out());
    assertThat(report.path("findings").get(0).path("code").asString()).isEqualTo("DB-DRIVER-04");
    assertThat(report.path("counts").path("fail").asInt()).isEqualTo(2);
    assertThat(report.path("ports").isArray()).isTrue();
    assertThat(report.path("abilities").get(0).path("answer").asString()).isEqualTo("yes");
  }

  @ParameterizedTest
  @CsvSource({"PEERMEM-02", "db-peermem-02", "DB-PEERMEM-02"})
  void a_code_is_explained_however_it_is_written(String code) {
    assertThat(session.type("doctor", "--explain", code)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("DB-PEERMEM-02  FAIL  nvidia_peermem is loaded but not registered\n")
        .contains("known by", "effect", "fix", "https://github.com/NVIDIA/nccl/issues/1537");
  }

  @Test
  void a_code_of_a_log_line_is_explained_too_and_so_are_all() {
    session.type("doctor", "--explain", "LOG-10");
    assertThat(session.out()).startsWith("DB-LOG-10  a completion in error");
    session.type("doctor", "--explain", "all");
    assertThat(session.out()).contains("DB-DRIVER-01", "DB-ENV-09");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--root /no/such/folder;/no/such/folder  DB-U070  there is no such folder",
        "--explain PEERMEN-02;DB-U072  the doctor has no code 'PEERMEN-02'"
      })
  void what_cannot_be_read_is_exit_2(String options, String problem) {
    assertThat(session.type(("doctor " + options).split(" ", -1))).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).startsWith(problem);
  }
}
