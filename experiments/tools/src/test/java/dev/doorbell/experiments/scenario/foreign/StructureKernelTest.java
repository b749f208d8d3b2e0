package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kernel of another library: its descriptor lays out what the kernel expects. */
class StructureKernelTest {
  /** Kernels over structures of other libraries, in the form that their compiler gave them. */
  static final Path STAND_INS =
      Path.of("lab/src/test/resources/dev/doorbell/experiments/scenario/foreign");

  private static final String NAME = "stand_in_args";

  @TempDir private Path folder;

  private static String resource(String name) throws IOException {
    return Files.readString(STAND_INS.resolve("args").resolve(name));
  }

  /** The stand-in's kernel with another descriptor. */
  private UserKernel kernel(String before, String after) throws IOException, ConfigException {
    String text = resource(NAME + ".kernel.yaml");
    assertThat(text).contains(before);
    Path descriptor = folder.resolve(NAME + ".kernel.yaml");
    Files.writeString(descriptor, text.replace(before, after));
    Files.writeString(folder.resolve(NAME + ".ptx"), resource(NAME + ".ptx"));
    return KernelFolders.read(descriptor);
  }

  private static List<String> differences(UserKernel kernel, long seed) {
    return GpuComparer.runAlone(new GpuComparer.Request(Protocol.of(kernel), "vm", seed, 0))
        .differences();
  }

  @Test
  void a_kernel_finds_queues_and_memory_where_its_descriptor_lays_them_out() throws Exception {
    UserKernel kernel = kernel("args:", "args:");
    assertThat(KernelWorkbench.checkAbi(kernel)).isEmpty();
    for (long seed = 0; seed < 4; seed++) {
      assertThat(differences(kernel, seed)).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void a_variable_of_another_file_that_is_linked_is_filled_too() throws Exception {
    String files = "ptx: [%s.ptx, ring_library.ptx]\nargs:".formatted(NAME);
    String definition = ".const .align 8 .b8 ring_state_d[40];";
    String head = ".version 9.0\n.target sm_75\n.address_size 64\n";
    Files.writeString(folder.resolve("ring_library.ptx"), head + ".visible " + definition + "\n");
    kernel("args:", files);
    String ptx = resource(NAME + ".ptx");
    assertThat(ptx).contains(definition);
    Files.writeString(
        folder.resolve(NAME + ".ptx"), ptx.replace(definition, ".extern " + definition));
    UserKernel linked = KernelFolders.read(folder.resolve(NAME + ".kernel.yaml"));
    assertThat(KernelWorkbench.checkAbi(linked)).isEmpty();
    assertThat(differences(linked, 0)).isEmpty();

    Files.writeString(folder.resolve("ring_library.ptx"), head);
    UserKernel declared = KernelFolders.read(folder.resolve(NAME + ".kernel.yaml"));
    assertThat(KernelWorkbench.checkAbi(declared)).isEmpty();
    assertThat(differences(declared, 0)).as("declared by a file, defined by none").isEmpty();
  }

  @Test
  void a_field_at_another_place_is_another_field_for_the_kernel() throws Exception {
    UserKernel moved =
        kernel(
            "      version: u32 7\n      ranks: u32 ranks",
            "      ranks: u32 ranks\n      version: u32 7");
    assertThat(KernelWorkbench.checkAbi(moved)).isEmpty();
    assertThat(differences(moved, 0)).isNotEmpty();
  }

  @Test
  void a_variable_that_the_module_lacks_is_refused_with_its_place() throws Exception {
    UserKernel kernel = kernel("symbol: ring_state_d", "symbol: ring_stat_d");
    assertThat(KernelWorkbench.checkAbi(kernel))
        .extracting(Problem::code, Problem::where, Problem::what)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(
                "DB-K012",
                folder.resolve(NAME + ".kernel.yaml") + ":22:13",
                "the module has no variable 'ring_stat_d'  - did you mean 'ring_state_d'?"));
  }

  @Test
  void a_structure_larger_than_the_variable_or_the_parameter_is_refused() throws Exception {
    UserKernel variable = kernel("be32[rank]@32 peer.rkey", "be32[rank]@40 peer.rkey");
    assertThat(KernelWorkbench.checkAbi(variable))
        .extracting(Problem::what)
        .containsExactly("state has 48 bytes, and variable 'ring_state_d' has 40");
    UserKernel value = kernel("lkey: u32 payload.lkey", "lkey: u64[2] payload.lkey");
    assertThat(KernelWorkbench.checkAbi(value))
        .extracting(Problem::what)
        .containsExactly(
            "region does not fit parameter 0 of stand_in_args, which has 24 bytes (.b8)");
  }
}
