package dev.doorbell.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.report.TextReport;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.doctor.topology.PciTopology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The checklist against made-up machines: each fault changes exactly the findings it should. */
class DoctorTest {
  private static final Set<String> HEALTHY =
      Set.of(
          ("DRIVER-01 RDMA-01 PEERMEM-01 DMABUF-01 NVREG-01 TOPO-01 ACS-01 IOMMU-02 LINK-01 PCIE-01"
                  + " BAR-01 MEMLOCK-01 PORT-01 GID-01 MTU-01 ENV-01")
              .split(" ", -1));

  @TempDir(factory = Memory.class)
  private Path folder;

  /** A machine is hundreds of small files, which memory takes faster than a disk. */
  static final class Memory implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension)
        throws IOException {
      Path memory = Path.of("/dev/shm");
      return Files.isWritable(memory)
          ? Files.createTempDirectory(memory, "doorbell-doctor")
          : Files.createTempDirectory("doorbell-doctor");
    }
  }

  private Diagnosis examine(Machine machine) throws IOException {
    Path root = Files.createTempDirectory(folder, "machine");
    return Diagnosis.of(Facts.read(machine.write(root)));
  }

  private static Set<String> codes(Diagnosis diagnosis) {
    return diagnosis.findings().stream()
        .map(finding -> finding.code().id().substring("DB-".length()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Machine faulty(MachineFault fault) {
    Machine machine = Machine.dgx();
    fault.change().accept(machine);
    return machine;
  }

  static List<MachineFault> faults() {
    return MachineFault.all();
  }

  @Test
  void a_healthy_machine_passes_every_check() throws IOException {
    Diagnosis diagnosis = examine(Machine.dgx());
    assertThat(codes(diagnosis)).containsExactlyInAnyOrderElementsOf(HEALTHY);
    assertThat(diagnosis.findings()).allMatch(finding -> finding.verdict() == CheckVerdict.PASS);
    assertThat(diagnosis.abilities()).allMatch(ability -> ability.answer() == Ability.Answer.YES);
  }

  @ParameterizedTest
  @MethodSource("faults")
  void a_fault_changes_the_findings_that_it_should_and_no_others(MachineFault fault)
      throws IOException {
    Set<String> expected = new TreeSet<>(HEALTHY);
    assertThat(expected).as("lost").containsAll(fault.lost());
    expected.removeAll(fault.lost());
    for (String code : fault.gained()) {
      assertThat(expected.add(code)).as("%s is new", code).isTrue();
    }
    assertThat(codes(examine(faulty(fault)))).containsExactlyElementsOf(expected);
  }

  @Test
  void every_code_is_found_on_some_machine() throws IOException {
    Set<String> found = new TreeSet<>(HEALTHY);
    for (MachineFault fault : MachineFault.all()) {
      found.addAll(fault.gained());
    }
    assertThat(found)
        .containsExactlyElementsOf(
            Code.all().stream().map(code -> code.id().substring(3)).sorted().toList());
    assertThat(MachineFault.all()).hasSizeGreaterThanOrEqualTo(25);
  }

  @Test
  void codes_are_numbered_and_say_what_to_do() {
    assertThat(Code.all()).extracting(Code::id).doesNotHaveDuplicates();
    for (Code code : Code.all()) {
      assertThat(code.id()).matches("DB-[A-Z]+-\\d{2}");
      assertThat(code.how()).as(code.id()).endsWith(".");
      assertThat(code.effect()).as(code.id()).endsWith(".");
      if (code.verdict() == CheckVerdict.WARN || code.verdict() == CheckVerdict.FAIL) {
        assertThat(code.fix()).as(code.id()).isNotEmpty().doesNotEndWith(".");
      }
      assertThat(Code.find(code.id().toLowerCase(Locale.ROOT))).contains(code);
      assertThat(Code.find(code.id().substring(3))).contains(code);
    }
  }

  @Test
  void a_machine_without_hardware_fails_nothing_and_says_what_works() throws IOException {
    Diagnosis diagnosis = examine(Machine.bare());
    assertThat(codes(diagnosis)).containsExactly("DRIVER-05", "PEERMEM-07", "RDMA-06");
    assertThat(diagnosis.failed()).isFalse();
    assertThat(diagnosis.abilities())
        .extracting(Ability::answer)
        .containsExactly(
            Ability.Answer.YES, Ability.Answer.NO, Ability.Answer.NO, Ability.Answer.NO);
    assertThat(diagnosis.abilities().get(1).obstacle()).contains(Code.of("DB-DRIVER-05"));
  }

  @Test
  void an_empty_folder_is_a_machine_without_anything() throws IOException {
    Diagnosis diagnosis = Diagnosis.of(Facts.read(folder));
    assertThat(codes(diagnosis)).containsExactly("DRIVER-05", "PEERMEM-07", "RDMA-06");
  }

  @Test
  void this_machine_can_be_examined_whatever_it_is() {
    Diagnosis diagnosis = Diagnosis.here();
    assertThat(diagnosis.findings()).isNotEmpty();
    assertThat(diagnosis.abilities().getFirst().answer()).isEqualTo(Ability.Answer.YES);
  }

  @Test
  void files_with_nonsense_in_them_are_no_reason_to_stop() throws IOException {
    Machine machine = Machine.dgx();
    machine.put("proc/modules", "\0\0 x");
    machine.put("proc/self/limits", "Max locked memory");
    machine.put("proc/sys/kernel/osrelease", "99999999999999.x");
    machine.set(Machine.GPU0, "resource", "0xzz 0x1 0x2\nnothing");
    machine.set(Machine.GPU0, "vendor", "many");
    machine.set(Machine.NIC0, "current_link_speed", "fast");
    machine.set(Machine.NIC0, "config", "short");
    machine.port("mlx5_0", "rate", "many Gb/sec");
    machine.port("mlx5_0", "gids/x", "fe80");
    machine.put("proc/driver/nvidia/params", "no colon\n: \n");
    assertThat(examine(machine).findings()).isNotEmpty();
  }

  @Test
  void acs_makes_a_near_hca_a_far_one() throws IOException {
    Machine machine = Machine.dgx();
    machine.config(
        Machine.DOWNSTREAM.getFirst(), new ConfigSpace(ConfigSpace.DOWNSTREAM).acs(1 << 2));
    Diagnosis diagnosis = examine(machine);
    assertThat(diagnosis.topology().paths())
        .extracting(path -> path.gpu().address() + " " + path.hca().name() + " " + path.travelled())
        .containsExactly(
            "0000:1b:00.0 mlx5_0 PHB",
            "0000:1b:00.0 mlx5_1 SYS",
            "0000:9b:00.0 mlx5_0 SYS",
            "0000:9b:00.0 mlx5_1 PIX");
    assertThat(TextReport.text(diagnosis, false, false))
        .contains(
            """
            distance       mlx5_0  mlx5_1
            0000:1b:00.0   PIX*    SYS
            0000:9b:00.0   SYS     PIX
            * ACS sends it through the host bridge
            """);
  }

  @Test
  void a_first_register_of_64_bits_does_not_hide_bar1() throws IOException {
    Machine machine = Machine.dgx();
    // As an H200 has it; the driver's BAR1 is the third line.
    machine.set(
        Machine.GPU0,
        "resource",
        """
        0x0000104002000000 0x0000104002ffffff 0x000000000014220c
        0x0000000000000000 0x0000000000000000 0x0000000000000000
        0x0000100000000000 0x0000103fffffffff 0x000000000014220c
        0x0000000000000000 0x0000000000000000 0x0000000000000000
        0x0000104000000000 0x0000104001ffffff 0x000000000014220c
        0x0000000000000000 0x0000000000000000 0x0000000000000000
        """);
    assertThat(Facts.read(machine.write(folder)).gpus().getFirst().bars())
        .startsWith(16L << 20, 256L << 30, 32L << 20);
  }

  @Test
  void a_second_switch_between_is_pxb() throws IOException {
    Machine machine = Machine.dgx().unplug(Machine.GPU0);
    List<String> above = List.of("0000:17:01.0", "0000:18:00.0", "0000:1a:00.0");
    machine.bridge("pci0000:17", above, "0000:1b:00.0", 0, ConfigSpace.UPSTREAM);
    machine.bridge(
        "pci0000:17",
        List.of("0000:17:01.0", "0000:18:00.0", "0000:1a:00.0", "0000:1b:00.0"),
        "0000:1d:00.0",
        0,
        ConfigSpace.DOWNSTREAM);
    machine.gpu(
        "pci0000:17",
        List.of("0000:17:01.0", "0000:18:00.0", "0000:1a:00.0", "0000:1b:00.0", "0000:1d:00.0"),
        "0000:1e:00.0",
        0);
    assertThat(examine(machine).topology().paths().getFirst().distance())
        .isEqualTo(PciDistance.PXB);
  }

  @Test
  void an_older_libcuda_left_beside_the_drivers_own_is_not_taken_for_the_newest()
      throws IOException {
    Machine machine =
        Machine.dgx().put("usr/lib/x86_64-linux-gnu/libcuda.so.570.9.15", ""); // 9 < 86
    assertThat(codes(examine(machine))).containsExactlyElementsOf(new TreeSet<>(HEALTHY));
  }

  @Test
  void soft_roce_over_a_nic_is_no_hca_though_its_device_link_leads_to_the_nic() throws IOException {
    Machine machine = Machine.dgx().hca("rxe0", Machine.NIC0, 2);
    machine.put(machine.place("rxe0") + "/parent", "ens0np0");
    Set<String> expected = new TreeSet<>(HEALTHY);
    expected.add("RDMA-05");
    assertThat(codes(examine(machine))).containsExactlyElementsOf(expected);
  }

  @Test
  void a_sub_function_is_where_its_nic_is_and_adds_no_bandwidth() throws IOException {
    Machine machine =
        Machine.dgx().hca("mlx5_4", Machine.NIC0, 2).below("mlx5_4", "mlx5_core.sf.3");
    Diagnosis diagnosis = examine(machine);
    assertThat(codes(diagnosis)).containsExactlyElementsOf(new TreeSet<>(HEALTHY));
    assertThat(diagnosis.topology().paths())
        .filteredOn(path -> path.hca().name().equals("mlx5_4"))
        .filteredOn(path -> path.gpu().address().equals(Machine.GPU0))
        .extracting(PciTopology.Path::distance)
        .containsExactly(PciDistance.PIX);
  }

  @Test
  void a_typo_gets_the_name_that_was_meant() throws IOException {
    Machine machine =
        Machine.dgx()
            .variable("NCCL_IB_QPS_PER_CONECTION", "4")
            .variable("NVSHMEM_IBGDA_NUM_RC_PER_PEER", "2")
            .variable("UCX_NET_DEVICE", "mlx5_0:1")
            .variable("UCX_RC_MLX5_TX_CQ_LEN", "64")
            .variable("NCCL_HOME", "/opt/nccl");
    assertThat(
            examine(machine).findings().stream()
                .filter(finding -> finding.code().equals(Code.of("DB-ENV-02")))
                .map(CheckResult::text))
        .containsExactly(
            "NCCL_IB_QPS_PER_CONECTION: read by no library; did you mean"
                + " NCCL_IB_QPS_PER_CONNECTION?",
            "NVSHMEM_IBGDA_NUM_RC_PER_PEER: read by no library; did you mean"
                + " NVSHMEM_IBGDA_NUM_RC_PER_PE?",
            "UCX_NET_DEVICE: read by no library; did you mean UCX_NET_DEVICES?");
  }
}
