package dev.doorbell.experiments.workbench.calibration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CalibratorTest {
  private static final String H200 = "../papers/h200-prices/machine.json";

  private static final List<String> PRICES =
      List.of(
          "load",
          "load.host",
          "load.hit",
          "store",
          "store.host",
          "atomic",
          "atomic.host",
          "fence.floor",
          "fence.system.floor",
          "fence",
          "fence.system",
          "fence.host",
          "fence.system.host",
          "stores.host.1x32.4",
          "stores.host.1x32.16",
          "loads.host.1x32.4",
          "loads.host.1x32.8",
          "loads.host.1x32.16");

  /** Of a price: what loop and address arithmetic leave in it. */
  private static final double NANOS = 3;

  private static Calibration calibrate(String topology, BooleanSupplier interrupted)
      throws Exception {
    return Calibrator.measure(new Calibrator.Request("vm", topology, 5, 64, interrupted, _ -> {}));
  }

  private static double median(Calibration calibration, String name) {
    return calibration.find(name).orElseThrow().summary().median();
  }

  @ParameterizedTest
  @ValueSource(strings = {"same-switch", "cross-socket"})
  void the_virtual_machine_measures_the_prices_that_it_goes_by(String name) throws Exception {
    Topology topology = TopologyFile.load(name);
    var gpu = topology.gpus().getFirst();

    Calibration found = calibrate(name, () -> false);

    assertThat(found.basis()).isEqualTo(Basis.MODELLED);
    assertThat(found.complete()).isTrue();
    assertThat(median(found, "load")).isCloseTo(gpu.load(), within(NANOS));
    assertThat(median(found, "load.strong")).isCloseTo(gpu.strongLoad(), within(NANOS));
    assertThat(median(found, "load.hit")).isCloseTo(gpu.loadHit(), within(NANOS));
    assertThat(median(found, "store")).isCloseTo(gpu.store(), within(NANOS));
    assertThat(median(found, "store.host")).isCloseTo(gpu.remoteStore(), within(NANOS));
    assertThat(median(found, "atomic")).isCloseTo(gpu.atomic(), within(NANOS));
    assertThat(median(found, "fence") - median(found, "store"))
        .isCloseTo(gpu.fence(), within(NANOS));
    assertThat(median(found, "fence.system") - median(found, "store"))
        .isCloseTo(gpu.fenceSystem(), within(NANOS));
    double there = topology.path("gpu0", "cpu0").hops().stream().mapToDouble(h -> h.nanos()).sum();
    assertThat(median(found, "load.host"))
        .isCloseTo(2 * there + topology.cpus().getFirst().memoryService(), within(10.0));
    // Twice the threads load twice as much, where nothing but waiting limits them.
    assertThat(median(found, "loads.host.1x32.16"))
        .isCloseTo(4 * median(found, "loads.host.1x32.4"), within(0.05));
  }

  @ParameterizedTest
  @CsvSource({"60, 1.54", "1, 0", "8, 3", "37, 0.25", "101, 5"})
  void the_loads_that_a_thread_has_under_way_and_what_issuing_one_takes_are_found_again(
      int inFlight, double issue, @TempDir Path folder) throws Exception {
    String text = TopologyFile.text("same-switch");
    assertThat(text).contains("loads_in_flight: {value: 60,", "load_issue_ns: {value: 1.54,");
    Path file = folder.resolve("other.yaml");
    Files.writeString(
        file,
        text.replace(
                "loads_in_flight: {value: 60,", "loads_in_flight: {value: %d,".formatted(inFlight))
            .replace(
                "load_issue_ns: {value: 1.54,", "load_issue_ns: {value: %s,".formatted(issue)));

    Calibration found = calibrate(file.toString(), () -> false);

    assertThat(found.find("load.in_flight").orElseThrow().samples().values())
        .containsOnly(inFlight);
    Path machine = folder.resolve("machine.json");
    Files.writeString(machine, MachineFile.text(found, "round-pix"));
    var finer = TopologyFile.load(machine.toString()).gpus().getFirst().finer();
    assertThat(finer.loadsInFlight()).isEqualTo(inFlight);
    assertThat(finer.loadIssue()).isCloseTo(issue, within(0.1));
  }

  @Test
  void what_instructions_wait_for_each_other_is_found_again(@TempDir Path folder) throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Calibration found = calibrate("h200-cx7", () -> asked.incrementAndGet() > 2);
    Path machine = folder.resolve("machine.json");
    Files.writeString(machine, MachineFile.text(found, "same-switch"));

    GpuPrices before = TopologyFile.load("h200-cx7").gpus().getFirst();
    GpuPrices after = TopologyFile.load(machine.toString()).gpus().getFirst();
    assertThat(after.instruction()).isCloseTo(before.instruction(), within(0.05));
    var given = before.finer().latencies();
    var again = after.finer().latencies();
    assertThat(again.result()).isCloseTo(given.result(), within(0.05));
    assertThat(again.decision()).isCloseTo(given.decision(), within(0.05));
    // A result is waited for within a run of instructions alone, and a branch ends one.
    assertThat(again.jump()).isCloseTo(given.jump(), within(given.result()));
    // With what moves an argument and the result.
    assertThat(again.call()).isCloseTo(given.call(), within(5 * given.result()));
  }

  @Test
  void a_machine_file_is_a_topology_whose_prices_are_those_measured(@TempDir Path folder)
      throws Exception {
    Calibration far = calibrate("cross-socket", () -> false);
    Path file = folder.resolve("machine.json");

    Files.writeString(file, MachineFile.text(far, "same-switch"));

    Topology machine = TopologyFile.load(file.toString());
    Topology socket = TopologyFile.load("cross-socket");
    Topology near = TopologyFile.load("same-switch");
    assertThat(machine.gpus().getFirst().fenceSystem())
        .isCloseTo(socket.gpus().getFirst().fenceSystem(), within(NANOS));
    assertThat(machine.nics()).isEqualTo(near.nics());
    assertThat(nanos(machine, "cpu0")).isCloseTo(nanos(socket, "cpu0"), within(10.0));
    // The slot is on both ways.
    assertThat(slot(machine, "nic0")).isCloseTo(slot(machine, "cpu0"), within(0.01));
    assertThat(machine.constants())
        .anyMatch(
            constant ->
                constant.key().equals("gpu0.load_ns") && constant.source().contains("of 5"));
  }

  @Test
  void an_h200s_machine_file_predicts_its_own_prices_and_gives_them_back(@TempDir Path folder)
      throws Exception {
    JsonNode measured = JsonMapper.shared().readTree(Path.of(H200)).get("measurements");

    Calibration modelled = calibrate(H200, () -> false);

    for (String name : PRICES) {
      double there =
          measured
              .valueStream()
              .filter(each -> each.get("name").asString().equals(name))
              .mapToDouble(each -> each.get("median").doubleValue())
              .findFirst()
              .orElseThrow();
      assertThat(median(modelled, name)).as(name).isCloseTo(there, within(0.1 * there));
    }
    Path file = folder.resolve("machine.json");
    Files.writeString(file, MachineFile.text(modelled, H200));
    GpuPrices before = TopologyFile.load(H200).gpus().getFirst();
    GpuPrices after = TopologyFile.load(file.toString()).gpus().getFirst();
    assertThat(after.instruction()).isCloseTo(before.instruction(), within(0.1));
    assertThat(after.store()).isCloseTo(before.store(), within(0.1));
    assertThat(after.finer().fenceSystemFloor())
        .isCloseTo(before.finer().fenceSystemFloor(), within(1.0));
    assertThat(after.finer().fenceRemote()).isCloseTo(before.finer().fenceRemote(), within(1.0));
    assertThat(after.finer().fenceAwaitsArrival()).isFalse();
    assertThat(after.finer().remoteLoad()).isCloseTo(before.finer().remoteLoad(), within(3.0));
    assertThat(after.finer().remoteSpread()).isCloseTo(before.finer().remoteSpread(), within(3.0));
  }

  private static double nanos(Topology topology, String to) {
    return topology.path("gpu0", to).hops().stream().mapToDouble(hop -> hop.nanos()).sum();
  }

  private static double slot(Topology topology, String to) {
    return topology.path("gpu0", to).hops().getFirst().nanos();
  }

  @Test
  void what_is_interrupted_says_so_and_measures_no_further() throws Exception {
    AtomicInteger asked = new AtomicInteger();

    Calibration found = calibrate("same-switch", () -> asked.incrementAndGet() > 4);

    assertThat(found.complete()).isFalse();
    assertThat(found.find("load")).isPresent();
    assertThat(found.find("load.in_flight")).isEmpty();
  }

  @Test
  void a_gpu_that_is_not_there_is_an_error_with_a_way_out() throws Exception {
    Calibrator.Request request =
        new Calibrator.Request("cuda:77", "same-switch", 5, 64, () -> false, _ -> {});

    assertThatThrownBy(() -> Calibrator.measure(request))
        .isInstanceOf(EnvironmentException.class)
        .satisfies(
            e ->
                assertThat(((EnvironmentException) e).problem().text())
                    .contains("cuda:77", "--gpu vm"));
  }
}
