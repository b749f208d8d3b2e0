package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@link VerbsHcaContractTest} on Linux's Soft-RoCE in a guest: real libibverbs, real kernel. The
 * guests are those of the software HCA's tests; their build scripts stand beside the run scripts.
 */
@Tag("slow")
class SoftRoceTest {
  private static final Path GUESTS = Path.of("..", "soft-hca", "src", "guest").toAbsolutePath();

  /** Half a minute and two on a quiet machine. */
  private static final int SECONDS = 900;

  private static final Path SET_UP = Path.of("src", "test", "guest", "soft-roce.sh");

  @Test
  void the_suite_passes_on_soft_roce_in_user_mode_linux() throws Exception {
    String said = run("uml", VerbsHcaContractTest.class.getName());
    assertThat(said).contains(", 0 failed, ").doesNotContain("guest: 0 passed");
  }

  @Test
  void a_scenario_of_all_operations_passes_on_debians_own_kernel() throws Exception {
    String said = run("qemu", SoftRoceScenarioTest.class.getName());
    assertThat(said).contains("guest: 1 passed, 0 failed, 0 skipped");
  }

  private static String run(String kind, String testClass)
      throws IOException, InterruptedException {
    Path build = GUESTS.resolve("build-%s.sh".formatted(kind));
    Process where = new ProcessBuilder(build.toString(), "--where").start();
    String made = new String(where.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(where.waitFor()).isZero();
    assumeTrue(
        Files.exists(Path.of(made)),
        "the guest is not built; run host-runtime/soft-hca/src/guest/" + build.getFileName());
    assumeTrue(
        Files.exists(Path.of("/etc/libibverbs.d/rxe.driver")) && isProgram("rdma"),
        "libibverbs or rdma is missing; apt-get install ibverbs-providers iproute2 busybox-static");
    List<String> command =
        new ArrayList<>(
            List.of(
                GUESTS.resolve("run-%s.sh".formatted(kind)).toString(),
                SET_UP.toAbsolutePath().toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx400m",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                GuestSuite.class.getName(),
                testClass));
    ProcessBuilder guest = new ProcessBuilder(command).redirectErrorStream(true);
    guest.environment().put("DOORBELL_GUEST_MEMORY", "1G");
    guest.environment().put("DOORBELL_GUEST_SECONDS", Integer.toString(SECONDS));
    Process process = guest.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();
    assertThat(status).as("%s guest: %s", kind.toUpperCase(Locale.ROOT), said).isZero();
    return said;
  }

  private static boolean isProgram(String name) {
    return List.of("/usr/sbin", "/sbin", "/usr/bin", "/bin").stream()
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }
}
