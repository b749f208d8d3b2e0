package dev.doorbell.experiments.workbench.calibration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Constants by hand from made-up measurements of round numbers. */
class PriceListTest {
  private static final double EXACT = 1e-6;

  @TempDir private Path folder;

  private final Map<String, Double> medians =
      new LinkedHashMap<>(
          Map.of(
              "round", 20.0,
              "store", 5.0,
              "store.host", 6.0,
              "load", 143.0,
              "load.host", 1203.0,
              "atomic.host", 1103.0));

  private Calibration calibration() {
    List<Measurement> all = new ArrayList<>();
    medians.forEach(
        (name, value) -> {
          String unit = name.contains("x") || name.startsWith("copy.") ? "GB/s" : "ns";
          all.add(new Measurement("what " + name + " is", Samples.of(name, unit, value)));
        });
    return new Calibration("a GPU", Basis.MEASURED, true, all);
  }

  private Topology machine() throws Exception {
    Path file = folder.resolve("machine.json");
    Files.writeString(file, MachineFile.text(calibration(), "same-switch"));
    return TopologyFile.load(file.toString());
  }

  private GpuPrices gpu() throws Exception {
    return machine().gpus().getFirst();
  }

  @Test
  void an_instruction_is_a_fifth_of_a_round_without_its_store_and_prices_are_without_it()
      throws Exception {
    GpuPrices gpu = gpu();
    assertThat(gpu.instruction()).isCloseTo((20 - 5) / 5.0, within(EXACT));
    assertThat(gpu.store()).isCloseTo(5 - 3, within(EXACT));
    assertThat(gpu.load()).isCloseTo(143 - 3, within(EXACT));
  }

  @Test
  void chains_of_instructions_take_the_place_of_the_round_and_give_the_latencies()
      throws Exception {
    medians.put("instruction", 0.5);
    medians.put("instruction.chain", 2.0);
    medians.put("instruction.decision", 9.0);
    medians.put("instruction.jump", 13.0);
    medians.put("instruction.call", 55.0);
    GpuPrices gpu = gpu();
    assertThat(gpu.instruction()).isCloseTo(0.5, within(EXACT));
    assertThat(gpu.load()).isCloseTo(142.5, within(EXACT));
    assertThat(gpu.finer().latencies())
        .isEqualTo(new GpuRefinements.Latencies(2, 9 - 2, 13 - 9, 55 - 2));
  }

  @Test
  void the_shorter_of_load_and_atomic_gives_the_way_and_the_other_takes_more() throws Exception {
    Topology machine = machine();
    double way = machine.path("gpu0", "cpu0").nanos();
    assertThat(way).isCloseTo((1103 - 3 - 90) / 2.0, within(0.01));
    assertThat(machine.gpus().getFirst().finer().remoteLoad()).isCloseTo(100, within(EXACT));
    assertThat(machine.gpus().getFirst().finer().remoteAtomic()).isZero();
    medians.put("atomic.host", 1243.0);
    assertThat(machine().path("gpu0", "cpu0").nanos())
        .isCloseTo((1203 - 3 - 90) / 2.0, within(0.01));
    assertThat(gpu().finer().remoteAtomic()).isCloseTo(40, within(EXACT));
    assertThat(gpu().finer().remoteLoad()).isZero();
  }

  @Test
  void a_fence_that_ends_before_a_round_trip_could_does_not_await_arrival() throws Exception {
    medians.put("fence.system.host", 606.0);
    assertThat(gpu().finer().fenceAwaitsArrival()).isFalse();
    assertThat(gpu().finer().fenceSystemRemote()).isCloseTo(606 - 6 - 3, within(EXACT));
    medians.put("fence.system.host", 1420.0);
    assertThat(gpu().finer().fenceAwaitsArrival()).isTrue();
  }

  @Test
  void floors_of_fences_are_told_apart_by_scope() throws Exception {
    medians.put("fence.floor", 135.0);
    medians.put("fence.system.floor", 516.0);
    medians.put("fence.host", 249.0);
    assertThat(gpu().fenceFloor()).isCloseTo(132, within(EXACT));
    assertThat(gpu().finer().fenceSystemFloor()).isCloseTo(513, within(EXACT));
    assertThat(gpu().finer().fenceRemote()).isCloseTo(249 - 6 - 3, within(EXACT));
  }

  @Test
  void rounds_of_wider_loads_and_of_more_warps_tell_spread_and_contention() throws Exception {
    medians.put("loads.host.1x32.4", 128 / 1220.0);
    medians.put("loads.host.1x32.16", 512 / 1320.0);
    medians.put("loads.host.132x32.4", 132 * 128 / 1351.0);
    assertThat(gpu().finer().remoteSpread()).isCloseTo(50, within(0.001));
    // 131 ns more with 131 warps more, of 32 loads each.
    assertThat(gpu().finer().remoteContention()).isCloseTo(1 / 32.0, within(0.001));
  }

  @Test
  void loads_of_4_bytes_that_are_faster_than_completions_of_4_bytes_must_have_shared_them()
      throws Exception {
    // Gen5 x16 at 0.95: 59.9 GB/s; with 20 bytes around each completion 128 bytes make 51.8, 64
    // bytes 45.6 and 4 bytes 10.0.
    assertThat(granuleOf(51)).isEqualTo(128);
    assertThat(granuleOf(45)).isEqualTo(64);
    assertThat(granuleOf(9.9)).isZero();
  }

  private int granuleOf(double best) throws Exception {
    medians.put("loads.host.8x1024.4", best);
    medians.put("loads.host.1x32.4", 0.1);
    return gpu().finer().loadGranule();
  }

  @Test
  void loads_side_by_side_give_how_many_are_under_way_and_what_issuing_one_takes_more()
      throws Exception {
    medians.put("load.in_flight", 60.0);
    medians.put("load.issue", 4.5);
    assertThat(gpu().finer().loadsInFlight()).isEqualTo(60);
    assertThat(gpu().finer().loadIssue()).isCloseTo(1.5, within(EXACT));
    // Faster than an instruction of a loop, of which each waits for the one before.
    medians.put("load.issue", 2.0);
    assertThat(gpu().finer().loadIssue()).isZero();
  }

  @Test
  void the_best_rates_bound_stores_of_a_block_and_all_of_device_memory() throws Exception {
    medians.put("stores.device.1x32.4", 6.0);
    medians.put("stores.device.1x1024.16", 63.0);
    medians.put("stores.device.132x1024.16", 4200.0);
    medians.put("loads.device.132x1024.16", 3600.0);
    assertThat(gpu().finer().blockStoreRate()).isEqualTo(63);
    assertThat(gpu().finer().storeRate()).isEqualTo(4200);
    assertThat(gpu().finer().loadRate()).isEqualTo(3600);
  }

  @Test
  void the_copy_engines_rates_give_the_share_of_the_link_that_tlps_get() throws Exception {
    medians.put("copy.small", 12_000.0);
    medians.put("copy.out", 54.0);
    medians.put("copy.in", 54.0);
    double rate = 32 * 128 / 130.0 * 16 / 8;
    double share = 54 * ((280 + 276) / 2.0 / 256) / rate;
    assertThat(machine().link("gpu-slot").efficiency()).isCloseTo(share, within(0.001));
    assertThat(machine().link("uplink").efficiency()).isCloseTo(share, within(0.001));
    assertThat(machine().link("nic-slot").efficiency()).isEqualTo(0.95);
  }
}
