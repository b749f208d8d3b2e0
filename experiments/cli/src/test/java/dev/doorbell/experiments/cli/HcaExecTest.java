package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.Probe;
import dev.doorbell.cuda.CudaProbe;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.ProgramExit;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code doorbell exec --gpus 0} as it is typed. */
class HcaExecTest {
  private static final String HOME = "doorbell.home";

  @TempDir Path folder;

  private final Session user = new Session();
  private final String before = System.getProperty(HOME, "");

  @BeforeEach
  void findTheCheckout() {
    System.setProperty(HOME, Path.of("..").toAbsolutePath().normalize().toString());
  }

  @AfterEach
  void forgetTheCheckout() {
    if (before.isEmpty()) {
      System.clearProperty(HOME);
    } else {
      System.setProperty(HOME, before);
    }
  }

  private static void requireCompiler() {
    boolean there =
        Arrays.stream(System.getenv("PATH").split(":"))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, "gcc")));
    assumeTrue(there, "no gcc; install it ('apt-get install gcc libc6-dev linux-libc-dev')");
  }

  @Test
  void the_exit_status_is_that_of_the_program() {
    requireCompiler();
    String at = folder.resolve("hca").toString();
    assertThat(user.type("exec", "--gpus", "0", "--at", at, "--", "true")).isEqualTo(ExitCode.OK);
    assertThatThrownBy(
            () -> user.type("exec", "--gpus", "0", "--at", at, "--", "sh", "-c", "exit 7"))
        .isInstanceOfSatisfying(ProgramExit.class, end -> assertThat(end.status()).isEqualTo(7));
  }

  @Test
  void a_program_sees_where_its_devices_are() {
    requireCompiler();
    String at = folder.resolve("hca").toString();
    assertThat(
            user.type(
                "exec",
                "--gpus",
                "0",
                "--hcas",
                "2",
                "--at",
                at,
                "--",
                "sh",
                "-c",
                "test -S $DOORBELL_HCA/socket && test -e"
                    + " $DOORBELL_HCA/root/sys/class/infiniband/mlx5_1 && test -n \"$LD_PRELOAD\""))
        .isEqualTo(ExitCode.OK);
    assertThat(folder.resolve("hca/socket")).doesNotExist();
  }

  @Test
  void gpus_need_a_driver() {
    requireCompiler();
    assumeTrue(!(CudaProbe.probe() instanceof Probe.Ready), "this machine has a GPU");
    String at = folder.resolve("hca").toString();
    assertThat(user.type("exec", "--real-gpus", "--at", at, "--", "true"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(user.err()).contains("--real-gpus").contains("DB-E003").contains("fix");
    assertThat(folder.resolve("hca")).doesNotExist();
  }

  @Test
  void what_cannot_be_started_or_served_is_said() {
    assertThat(user.type("exec", "--gpus", "0", "--hcas", "17", "--", "true"))
        .isEqualTo(ExitCode.USAGE);
    requireCompiler();
    String at = folder.resolve("hca").toString();
    assertThat(user.type("exec", "--gpus", "0", "--at", at, "--", "no-such-program"))
        .isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(user.err()).contains("DB-E050").contains("no-such-program").contains("fix");
  }

  @Test
  void who_finds_devices_served_is_told_to_leave_out_the_option_that_was_typed() throws Exception {
    Path at = folder.resolve("hca");
    try (ShimServer _ = ShimServer.open(at, ShimOptions.of(1))) {
      assertThat(
              user.type("exec", "--missing", "--nic", "cx7", "--at", at.toString(), "--", "true"))
          .isEqualTo(ExitCode.USAGE);
    }
    assertThat(user.err()).contains("DB-U003").contains("leave out --missing, --nic, or name");
  }
}
