package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The HCA by DEVX, on whatever mlx5 device this machine has. */
class Mlx5ScenarioTest {
  @BeforeEach
  void requireDevice() {
    Probe probe = VerbsProbe.probeMlx5();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
  }

  private static Mlx5Hca open(DirectFabric fabric, Locus nic, String filter) {
    return new Mlx5Hca(
        fabric, nic, DeviceFilter.parse(filter), -1, FabricMemory.of(fabric.memory(), nic.rank()));
  }

  @Test
  void every_operation_moves_its_bytes() {
    try (HcaWorld world = new VerbsWorld(Set.of(), (fabric, nic) -> open(fabric, nic, "mlx5"))) {
      Scenario.run(world);
    }
  }

  @Test
  void a_device_says_what_it_is_and_what_was_chosen() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0);
        Mlx5Hca hca = open(fabric, Locus.nic(0, 0), "=mlx5_0:1")) {
      assertThat(hca.name()).isEqualTo("mlx5_0");
      assertThat(hca.describe()).startsWith("mlx5_0 port 1, ").contains("GID", "doorbell page");
    }
  }

  @Test
  void a_filter_that_nothing_fits_is_told_with_what_there_is() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0)) {
      assertThatThrownBy(() -> open(fabric, Locus.nic(0, 0), "^mlx5"))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("no port fits '^mlx5'")
          .hasMessageContaining("mlx5_0:1 is filtered out");
      assertThat(fabric.memory().bytesInUse()).isZero();
    }
  }

  @Test
  void opening_and_closing_leaves_nothing_behind() throws java.io.IOException {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0)) {
      open(fabric, Locus.nic(0, 0), "mlx5").close();
      LeakWatch watch = LeakWatch.start();
      int cycles = Integer.getInteger("verbs.leak.cycles", 20);
      for (int i = 0; i < cycles; i++) {
        open(fabric, Locus.nic(0, 0), "mlx5").close();
      }
      watch.requireNothingNew();
      assertThat(fabric.memory().bytesInUse()).isZero();
    }
  }

  @Test
  void threads_that_open_and_close_at_once_do_not_disturb_each_other() throws Exception {
    int threads = 4;
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        running.add(executor.submit(Mlx5ScenarioTest::openOften));
      }
      for (Future<?> one : running) {
        one.get(10, TimeUnit.MINUTES);
      }
    }
  }

  private static void openOften() {
    for (int i = 0; i < 10; i++) {
      try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0)) {
        open(fabric, Locus.nic(0, 0), "mlx5").close();
        assertThat(fabric.memory().bytesInUse()).isZero();
      }
    }
  }
}
