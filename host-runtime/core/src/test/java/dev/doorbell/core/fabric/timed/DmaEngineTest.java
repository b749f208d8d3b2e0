package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.NicPrices.DmaPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import org.junit.jupiter.api.Test;

class DmaEngineTest {
  private static final int MANY = 200;
  private static final Topology FREE = RoundConstants.sameSwitch();

  private static Topology reads(double start, double request, double unit) {
    return RoundConstants.withDma(new DmaPrices(start, request, unit, 64, 0, 0, 0, 64, 0, 0));
  }

  private static Topology writes(double start, double request, double unit) {
    return RoundConstants.withDma(new DmaPrices(0, 0, 0, 64, start, request, unit, 128, 0, 0));
  }

  private static Topology stores(double request, double rate) {
    return RoundConstants.withDma(new DmaPrices(0, 0, 0, 64, 0, 0, 0, 64, request, rate));
  }

  @Test
  void one_read_takes_the_start_of_its_engine_longer_and_not_the_time_that_it_keeps_it_busy() {
    assertThat(reading(reads(100, 40, 10), 1, 512, 0) - reading(FREE, 1, 512, 0)).isEqualTo(100);
  }

  @Test
  void many_reads_leave_as_fast_as_the_engine_takes_requests_and_the_lines_they_touch() {
    assertThat(each(reads(100, 40, 10), 64, 0)).isCloseTo(50, within(0.5));
    assertThat(each(reads(100, 40, 10), 65, 0)).isCloseTo(60, within(0.5));
    assertThat(each(reads(100, 40, 10), 64, 1)).isCloseTo(60, within(0.5));
  }

  /** Nanoseconds from one of many reads to the next. */
  private static double each(Topology topology, int bytes, int offset) {
    long many = reading(topology, MANY, bytes, offset);
    return (many - reading(topology, 1, bytes, offset)) / (MANY - 1.0);
  }

  @Test
  void bytes_that_are_stored_and_forwarded_take_their_time_once_more() {
    assertThat(reading(stores(5, 8), 1, 2048, 0) - reading(FREE, 1, 2048, 0))
        .isCloseTo(5 + 2048 / 8, within(1L));
    assertThat(writing(stores(5, 8), 1, 2048) - writing(FREE, 1, 2048))
        .isCloseTo(5 + 2048 / 8, within(1L));
    assertThat(each(stores(5, 1), 256, 0)).isCloseTo(261, within(0.5));
  }

  @Test
  void many_writes_leave_as_fast_as_the_engine_takes_them_and_their_units() {
    assertThat(writing(writes(100, 40, 10), 1, 256) - writing(FREE, 1, 256)).isEqualTo(100);
    assertThat(eachWrite(128)).isCloseTo(50, within(0.5));
    assertThat(eachWrite(129)).isCloseTo(60, within(0.5));
  }

  private static double eachWrite(int bytes) {
    Topology topology = writes(100, 40, 10);
    return (writing(topology, MANY, bytes) - writing(topology, 1, bytes)) / (MANY - 1.0);
  }

  @Test
  void a_read_behind_a_write_starts_when_the_write_has_left_and_sees_it() {
    Topology topology = RoundConstants.withDma(new DmaPrices(100, 0, 0, 64, 300, 0, 0, 64, 0, 0));
    try (World world = new World(new TimedFabric(topology, 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      long own = nic.buffer(16);
      RawMemory.putLong(own, 7);
      nic.then(
          p -> {
            p.write(own, host.address(), 8, false);
            p.read(host.address(), own + 8, 8, nic::completed);
          });
      await(world, nic, 1);
      assertThat(RawMemory.getLong(own + 8)).isEqualTo(7);
      assertThat(nic.lastAt).isCloseTo(300 + 100 + reading(FREE, 1, 8, 0), within(2L));
    }
  }

  /** When the last of {@code count} reads of host memory ends, all of which begin at 0. */
  private static long reading(Topology topology, int count, int bytes, int offset) {
    try (World world = new World(new TimedFabric(topology, 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 8192);
      long own = nic.buffer(8192);
      nic.then(
          p -> {
            for (int i = 0; i < count; i++) {
              p.read(host.address() + offset, own, bytes, nic::completed);
            }
          });
      await(world, nic, count);
      return nic.lastAt;
    }
  }

  private static long writing(Topology topology, int count, int bytes) {
    try (World world = new World(new TimedFabric(topology, 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 8192);
      long own = nic.buffer(8192);
      nic.then(
          p -> {
            for (int i = 0; i < count; i++) {
              p.writeThen(own, host.address(), bytes, false, nic::completed);
            }
          });
      await(world, nic, count);
      return nic.lastAt;
    }
  }

  private static void await(World world, DeviceScript nic, int count) {
    assertThat(world.fabric.run(() -> nic.completions == count, World.FOREVER))
        .isEqualTo(RunOutcome.DONE);
  }
}
