package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.CpuPrices.MemoryPrices;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
  private static final int PAGE = 4096;
  private static final int MISS = 60;
  private static final int FAR = 100;
  private static final int WALK = 300;
  private static final int INTERVAL = 50;
  private static final int TRANSLATIONS = 4;

  /** A last-level cache of eight lines, of which devices' writes may take two. */
  private static final MemoryPrices CACHED =
      new MemoryPrices(MISS, 8 * 64, 2 * 64, FAR, 0, PAGE, 0, 0);

  private static final MemoryPrices TRANSLATED =
      new MemoryPrices(0, 0, 0, 0, TRANSLATIONS, PAGE, WALK, INTERVAL);

  private final List<AutoCloseable> open = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // by open(), first in each test
  private World world;

  @SuppressWarnings("NullAway.Init")
  private DeviceScript nic;

  @SuppressWarnings("NullAway.Init")
  private Allocation host;

  private long plain;

  private void build(MemoryPrices memory) {
    plain = firstRead(Prices.of(MemoryPrices.class, Map.of()));
    open(memory);
  }

  private long firstRead(MemoryPrices memory) {
    open(memory);
    return read(0);
  }

  private void open(MemoryPrices memory) {
    world = new World(new TimedFabric(RoundConstants.withMemory(memory), 1));
    nic = new DeviceScript(world.fabric, World.NIC);
    open.add(world);
    open.add(nic);
    host = world.allocate(MemoryKind.HOST, 64 * PAGE);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  /** Nanoseconds of a read of 8 bytes at {@code offset} of host memory. */
  private long read(long offset) {
    long from = world.fabric.now();
    nic.then(p -> p.read(host.address() + offset, nic.buffer(8), 8, nic::completed));
    await(nic.completions + 1);
    return nic.lastAt - from;
  }

  private void write(long offset) {
    nic.then(p -> p.writeThen(nic.buffer(8), host.address() + offset, 8, false, nic::completed));
    await(nic.completions + 1);
  }

  private void await(int completions) {
    assertThat(world.fabric.run(() -> nic.completions == completions, World.FOREVER))
        .isEqualTo(RunOutcome.DONE);
  }

  @Test
  void a_read_finds_in_the_cache_what_a_cpu_wrote_and_misses_what_nobody_did() {
    build(CACHED);
    assertThat(read(0)).isCloseTo(plain + FAR + MISS, within(1L));
    assertThat(read(0)).as("reads allocate nothing").isCloseTo(plain + FAR + MISS, within(1L));
    World.Script cpu = world.thread(World.CPU).then(p -> p.store64(host.address(), 1, Access.WEAK));
    world.nanos(cpu);
    assertThat(read(0)).isCloseTo(plain + FAR, within(1L));
  }

  @Test
  void what_a_device_wrote_lies_in_the_cache_beside_it_until_it_wrote_more_than_its_share() {
    build(CACHED);
    write(0);
    write(64);
    assertThat(read(0)).isCloseTo(plain, within(1L));
    write(128);
    assertThat(read(64))
        .as("read last before the third write")
        .isCloseTo(plain + FAR + MISS, within(1L));
    assertThat(read(0)).isCloseTo(plain, within(1L));
  }

  @Test
  void a_page_is_walked_for_once_while_the_iommu_holds_its_translation() {
    build(TRANSLATED);
    assertThat(read(0)).isCloseTo(plain + WALK, within(1L));
    assertThat(read(8)).isCloseTo(plain, within(1L));
    for (int page = 1; page <= TRANSLATIONS; page++) {
      assertThat(read((long) page * PAGE)).isCloseTo(plain + WALK, within(1L));
    }
    assertThat(read(0)).as("pushed out by the fifth page").isCloseTo(plain + WALK, within(1L));
  }

  @Test
  void walks_start_one_after_another_and_hold_up_writes() {
    build(TRANSLATED);
    int pages = 60;
    long from = world.fabric.now();
    List<Long> visible = new ArrayList<>();
    long own = nic.buffer(8);
    nic.then(
        p -> {
          for (int i = 0; i < pages; i++) {
            p.writeThen(
                own,
                host.address() + (long) i * PAGE,
                8,
                false,
                ok -> {
                  visible.add(p.now());
                  nic.completed(ok);
                });
          }
        });
    await(nic.completions + pages);
    assertThat(visible).isSorted();
    assertThat((visible.getLast() - visible.getFirst()) / (pages - 1.0))
        .isCloseTo(INTERVAL, within(0.5));
    assertThat(visible.getFirst() - from).isGreaterThan(WALK);
  }

  @Test
  void a_read_waits_for_a_write_before_it_that_is_still_being_translated() {
    build(TRANSLATED);
    read(PAGE);
    long own = nic.buffer(16);
    RawMemory.putLong(own, 5);
    long from = world.fabric.now();
    nic.then(
        p -> {
          p.write(own, host.address(), 8, false);
          p.read(host.address() + PAGE, own + 8, 8, nic::completed);
        });
    await(nic.completions + 1);
    assertThat(nic.lastAt - from).isCloseTo(plain + WALK, within(2L));
    assertThat(RawMemory.getLong(host.address())).isEqualTo(5);
  }
}
