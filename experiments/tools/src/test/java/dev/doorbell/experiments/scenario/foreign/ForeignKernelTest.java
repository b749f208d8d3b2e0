package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.workbench.diff.KernelComparer;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kernels over stand-ins for other libraries: headers of our own with the names that adapters ask
 * for, each with its fields in an order that the library does not have.
 */
class ForeignKernelTest {
  /** More than any run here needs on a busy machine. */
  private static final long PLENTY = 120_000_000_000L;

  @TempDir private Path folder;

  /** Stand-ins for the libraries' kernels, beside the adapters that they test. */
  static final Path STAND_INS =
      Path.of("lab/src/test/resources/dev/doorbell/experiments/scenario/foreign");

  static Path resources(DeviceApi api) {
    return STAND_INS.resolve(api.word());
  }

  private static UserKernel standIn(DeviceApi api) throws ConfigException {
    return standIn(api, name(api));
  }

  private static UserKernel standIn(DeviceApi api, String name) throws ConfigException {
    return KernelFolders.read(resources(api).resolve(name + ".kernel.yaml"));
  }

  private static String name(DeviceApi api) {
    return "stand_in_" + api.word();
  }

  /** The stand-in's kernel with another table. */
  private UserKernel changed(DeviceApi api, Consumer<LayoutTable> change)
      throws ConfigException, IOException {
    return rewritten(api, name(api), ptx -> LayoutTable.change(ptx, change));
  }

  private UserKernel rewritten(DeviceApi api, String name, UnaryOperator<String> change)
      throws ConfigException, IOException {
    Path from = resources(api);
    Path descriptor = folder.resolve(name + ".kernel.yaml");
    Files.writeString(descriptor, Files.readString(from.resolve(name + ".kernel.yaml")));
    Files.writeString(
        folder.resolve(name + ".ptx"), change.apply(Files.readString(from.resolve(name + ".ptx"))));
    return KernelFolders.read(descriptor);
  }

  private static List<String> differences(UserKernel kernel, long seed) {
    return KernelComparer.find()
        .runAlone(
            new KernelComparer.Request(
                kernel.name(), Optional.of(kernel), "vm", seed, 0, 1, PLENTY, () -> false, _ -> {}))
        .differences();
  }

  @ParameterizedTest
  @EnumSource(DeviceApi.class)
  void the_bytes_that_a_kernel_of_another_api_sends_arrive(DeviceApi api) throws ConfigException {
    UserKernel kernel = standIn(api);
    assertThat(KernelWorkbench.find().checkAbi(kernel)).isEmpty();
    for (long seed = 0; seed < 6; seed++) {
      assertThat(differences(kernel, seed)).as("seed %d", seed).isEmpty();
    }
  }

  /** Barriers and a sum over 2 to 4 PEs, by the areas and the neighbours that a team names. */
  @Test
  void pes_of_a_team_find_each_other_and_all_that_lies_in_the_symmetric_heap() throws Exception {
    UserKernel kernel = standIn(DeviceApi.NVSHMEM, "stand_in_nvshmem_sum");
    assertThat(KernelWorkbench.find().checkAbi(kernel)).isEmpty();
    for (long seed = 0; seed < 6; seed++) {
      assertThat(differences(kernel, seed)).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void pes_of_a_node_reach_each_other_and_all_of_them_by_multicast() throws Exception {
    UserKernel kernel = standIn(DeviceApi.NVSHMEM, "stand_in_nvshmem_node");
    assertThat(KernelWorkbench.find().checkAbi(kernel)).isEmpty();
    for (long seed = 0; seed < 4; seed++) {
      assertThat(differences(kernel, seed)).as("seed %d", seed).isEmpty();
    }
    UserKernel moved =
        rewritten(
            DeviceApi.NVSHMEM,
            "stand_in_nvshmem_node",
            ptx ->
                LayoutTable.change(
                    ptx,
                    table ->
                        table.swap(
                            "nvshmemi_team_t.nvls_rsc_base_ptr", "nvshmemi_team_t.pe_mapping")));
    assertThat(differences(moved, 0)).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "nvshmemi_device_host_state_t.team_pool, nvshmemi_device_host_state_t.heap_size",
    "nvshmemi_device_host_state_t.psync_pool, nvshmemi_device_host_state_t.heap_size",
    "nvshmemi_device_host_state_t.sync_counter, nvshmemi_device_host_state_t.heap_size",
    "nvshmemi_team_t.pe_mapping, nvshmemi_team_t.bcast_count",
    "nvshmemi_team_t.reduce_recexch.step2_nbrs, nvshmemi_team_t.bcast_count",
  })
  void a_field_of_a_team_that_has_moved_is_filled_in_where_the_table_says(String one, String other)
      throws Exception {
    UserKernel moved =
        rewritten(
            DeviceApi.NVSHMEM,
            "stand_in_nvshmem_sum",
            ptx -> LayoutTable.change(ptx, table -> table.swap(one, other)));
    assertThat(differences(moved, 0)).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource(DeviceApi.class)
  void each_field_that_an_adapter_fills_in_is_refused_by_name_where_it_is_missing(DeviceApi api)
      throws ConfigException, IOException {
    List<String> fields = ApiAdapter.of(api).fields();
    for (String field : fields) {
      UserKernel without = changed(api, table -> table.drop(field));
      List<Problem> problems = KernelWorkbench.find().checkAbi(without);
      assertThat(problems).hasSize(1);
      assertThat(problems.getFirst().code()).isEqualTo("DB-K017");
      assertThat(problems.getFirst().what()).endsWith(" has no " + field);
      if (field.equals(fields.getLast())) {
        assertThat(differences(without, 0)).singleElement().asString().contains(" has no " + field);
      }
    }
  }

  @Test
  void ptx_without_a_table_says_how_to_compile_it() throws Exception {
    UserKernel bare =
        rewritten(
            DeviceApi.NVSHMEM,
            name(DeviceApi.NVSHMEM),
            ptx -> ptx.replace("doorbell_api_layout", "some_table"));
    List<Problem> problems = KernelWorkbench.find().checkAbi(bare);
    assertThat(problems).extracting(Problem::code).containsExactly("DB-K017");
    assertThat(problems.getFirst().text()).contains("--api nvshmem --include DIR");
    assertThatThrownBy(() -> ApiLayout.read(DeviceApi.NVSHMEM, "bare", bare.ptx()))
        .isInstanceOf(ApiLayoutException.class);
  }

  @Test
  void bytes_that_no_adapter_names_are_listed() throws Exception {
    UserKernel kernel = standIn(DeviceApi.NVSHMEM);
    ApiLayout layout = ApiLayout.read(DeviceApi.NVSHMEM, kernel.ptxFile(), kernel.ptx());
    assertThat(layout.version()).isEqualTo("9.8.7");
    assertThat(layout.unnamed()).containsExactly("nvshmemi_device_host_state_t [128, 152)");
    List<String> notes = new ArrayList<>();
    KernelWorkbench.find()
        .check(kernel.ptxFile(), kernel.ptx())
        .notes()
        .forEach(note -> notes.add(note.what()));
    assertThat(notes)
        .contains("nvshmem 9.8.7: Doorbell leaves nvshmemi_device_host_state_t [128, 152) zero");
  }
}
