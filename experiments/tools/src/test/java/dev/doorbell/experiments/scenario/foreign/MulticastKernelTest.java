package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.workbench.diff.GpuComparer;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kernel whose descriptor lays multicast objects over buffers of all ranks. */
class MulticastKernelTest {
  private static final String NAME = "node_sum";

  @TempDir private Path folder;

  private static String resource(String name) throws IOException {
    return Files.readString(StructureKernelTest.STAND_INS.resolve("multicast").resolve(name));
  }

  private UserKernel kernel(String before, String after) throws IOException, ConfigException {
    String text = resource(NAME + ".kernel.yaml");
    assertThat(text).contains(before);
    Path descriptor = folder.resolve(NAME + ".kernel.yaml");
    Files.writeString(descriptor, text.replace(before, after));
    Files.writeString(folder.resolve(NAME + ".ptx"), resource(NAME + ".ptx"));
    return KernelFolders.read(descriptor);
  }

  private UserKernel kernel() throws IOException, ConfigException {
    return kernel("args:", "args:");
  }

  private static GpuComparer.Request request(UserKernel kernel, long seed) {
    return new GpuComparer.Request(Protocol.of(kernel), "vm", seed, 0);
  }

  @Test
  void sums_over_the_buffers_of_two_to_four_ranks_are_right() throws Exception {
    UserKernel kernel = kernel();
    assertThat(KernelWorkbench.checkAbi(kernel)).isEmpty();
    for (long seed = 0; seed < 4; seed++) {
      assertThat(GpuComparer.runAlone(request(kernel, seed)).differences())
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  @Test
  void another_factor_in_the_structure_that_has_the_object_gives_another_sum() throws Exception {
    UserKernel twice = kernel("factor: u64 1", "factor: u64 2");
    assertThat(GpuComparer.runAlone(request(twice, 0)).differences())
        .singleElement()
        .asString()
        .contains("added");
  }

  @Test
  void both_engines_leave_the_same() throws Exception {
    UserKernel kernel = kernel();
    for (long seed = 1; seed < 3; seed++) {
      assertThat(GpuComparer.compare(request(kernel, seed)).differences()).isEmpty();
    }
  }

  @Test
  void an_object_that_no_parameter_and_no_structure_gets_is_refused() {
    assertThatThrownBy(() -> kernel("u64 multicast.added_all", "u64 0"))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .extracting(Problem::what)
                    .containsExactly("'added_all' is no parameter of the kernel"));
  }

  @Test
  void the_name_of_an_object_means_nothing_else() {
    assertThatThrownBy(() -> kernel("multicast: added_all", "multicast: in"))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .extracting(Problem::what)
                    .contains("'in' is one of buffers"));
    assertThatThrownBy(() -> kernel("in_all", "In"))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .extracting(Problem::what)
                    .contains("'In' cannot be a name"));
  }
}
