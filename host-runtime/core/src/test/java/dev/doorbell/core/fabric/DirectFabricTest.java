package dev.doorbell.core.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Basis;
import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.Pause;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DirectFabricTest {
  private static final Agent IDLE = budget -> 0;
  private static final Locus GPU = Locus.gpu(0, 0);
  private static final Locus NIC = Locus.nic(0, 0);
  private static final Completion UNEXPECTED =
      ok -> {
        throw new AssertionError("everything finishes at once");
      };

  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 22), 0);
  private final AddressSpace memory = fabric.memory();
  private final ThreadPort thread = fabric.attachThread(GPU, IDLE);
  private final DevicePort device = fabric.attachDevice(NIC, IDLE);

  @AfterEach
  void close() {
    fabric.close();
  }

  private long allocate(long bytes) {
    return memory.allocate(MemoryKind.DEVICE, GPU, bytes, "payload").address();
  }

  static Stream<Integer> accesses() {
    List<Integer> all = new ArrayList<>();
    for (int semantics = Access.WEAK; semantics <= Access.NON_COHERENT; semantics++) {
      for (int scope : new int[] {0, Access.CTA, Access.CLUSTER, Access.GPU, Access.SYS}) {
        all.add(semantics | scope);
      }
    }
    return all.stream();
  }

  private long load(int bytes, long address, int access) {
    return switch (bytes) {
      case 1 -> thread.load8(address, access);
      case 2 -> thread.load16(address, access);
      case 4 -> thread.load32(address, access);
      case 8 -> thread.load64(address, access);
      default -> thread.load128(address, access);
    };
  }

  private void store(int bytes, long address, long value, int access) {
    switch (bytes) {
      case 1 -> thread.store8(address, value, access);
      case 2 -> thread.store16(address, value, access);
      case 4 -> thread.store32(address, value, access);
      case 8 -> thread.store64(address, value, access);
      default -> thread.store128(address, value, ~value, access);
    }
  }

  @ParameterizedTest(name = "access {0}")
  @MethodSource("accesses")
  void every_width_stores_its_bytes_and_loads_them_zero_extended(int access) {
    long address = allocate(64);
    SplittableRandom random = new SplittableRandom(access);
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
      long mask = bytes == 8 ? -1 : (1L << (8 * bytes)) - 1;
      for (int round = 0; round < 20; round++) {
        memoryIs(address, 64, (byte) 0xaa);
        long value = random.nextLong();
        long at = address + 16 + (long) random.nextInt(16 / bytes) * bytes;
        store(bytes, at, value, access);
        assertThat(load(bytes, at, access)).isEqualTo(value & mask);
        for (int i = 0; i < bytes; i++) {
          assertThat(RawMemory.getByte(at + i)).isEqualTo((byte) (value >>> (8 * i)));
        }
        assertThat(RawMemory.getByte(at - 1)).isEqualTo((byte) 0xaa);
        assertThat(RawMemory.getByte(at + bytes)).isEqualTo((byte) 0xaa);
        assertThat(thread.parked).isFalse();
      }
    }
    thread.store128(address, 0x1122, 0x3344, access);
    assertThat(thread.load128(address, access)).isEqualTo(0x1122);
    assertThat(thread.high).isEqualTo(0x3344);
    assertThat(RawMemory.getLong(address)).isEqualTo(0x1122);
    assertThat(RawMemory.getLong(address + 8)).isEqualTo(0x3344);
  }

  private static void memoryIs(long address, long bytes, byte value) {
    RawMemory.fill(address, bytes, value);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8, 16})
  void a_wild_access_of_any_width_faults_and_changes_nothing(int bytes) {
    long address = allocate(32);
    memoryIs(address, 32, (byte) 0x55);
    for (long wild : new long[] {0, address - bytes, address + 32, Long.MAX_VALUE - 31, -32}) {
      assertThatThrownBy(() -> load(bytes, wild, Access.WEAK))
          .isInstanceOf(AccessFault.class)
          .hasMessageStartingWith("load of %d bytes at 0x%x: ".formatted(bytes, wild))
          .hasMessageContaining("'payload'");
      assertThatThrownBy(() -> store(bytes, wild, 1, Access.RELEASE | Access.SYS))
          .isInstanceOf(AccessFault.class)
          .hasMessageStartingWith("store of %d bytes at 0x%x: ".formatted(bytes, wild));
      if (bytes <= 8) {
        assertThatThrownBy(() -> thread.atomic(Rmw.ADD, wild, bytes, 1, 0, Access.RELAXED))
            .isInstanceOf(AccessFault.class)
            .hasMessageStartingWith("atomic of %d bytes at 0x%x: ".formatted(bytes, wild));
      }
    }
    assertThat(NativeBytes.hex(address, 32)).isEqualTo("55".repeat(32));
  }

  @Test
  void an_access_to_freed_memory_faults() {
    Allocation gone = memory.allocate(MemoryKind.DEVICE, GPU, 64, "gone");
    allocate(64);
    thread.store64(gone.address(), 1, Access.WEAK);
    memory.free(gone);
    assertThatThrownBy(() -> thread.load64(gone.address(), Access.WEAK))
        .isInstanceOf(AccessFault.class);
    assertThatThrownBy(() -> device.read(gone.address(), 0, 64, UNEXPECTED))
        .isInstanceOf(AccessFault.class);
  }

  @ParameterizedTest
  @EnumSource(Rmw.class)
  void atomics_change_their_cell_alone_and_return_its_old_value(Rmw operation) {
    long seed = 31;
    SplittableRandom random = new SplittableRandom(seed);
    long address = allocate(32);
    for (int bytes : widths(operation)) {
      long mask = bytes == 8 ? -1 : (1L << (8 * bytes)) - 1;
      for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 32; i += 8) {
          RawMemory.putLong(address + i, random.nextLong());
        }
        byte[] before = NativeBytes.bytes(NativeBytes.hex(address, 32));
        long at = address + 8 + (long) random.nextInt(16 / bytes) * bytes;
        long old = load(bytes, at, Access.WEAK);
        long operand = random.nextLong();
        long compare = random.nextBoolean() ? old : random.nextLong();
        String context = "seed %d bytes %d round %d".formatted(seed, bytes, round);
        assertThat(
                thread.atomic(operation, at, bytes, operand, compare, Access.ACQ_REL | Access.SYS))
            .as(context)
            .isEqualTo(old);
        long now = operation.apply(old, bytes, operand, compare) & mask;
        for (int i = 0; i < bytes; i++) {
          before[(int) (at - address) + i] = (byte) (now >>> (8 * i));
        }
        assertThat(NativeBytes.bytes(NativeBytes.hex(address, 32))).as(context).isEqualTo(before);
      }
    }
  }

  private static int[] widths(Rmw operation) {
    return switch (operation) {
      case ADD_F64 -> new int[] {8};
      case ADD_F32, ADD_F16X2, ADD_BF16X2 -> new int[] {4};
      case ADD_F16, ADD_BF16 -> new int[] {2};
      default -> new int[] {1, 2, 4, 8};
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void atomics_of_two_host_threads_lose_nothing(int bytes) throws InterruptedException {
    long word = allocate(8);
    int rounds = 20_000;
    ThreadPort other = fabric.attachThread(GPU, IDLE);
    // Neighbours within one 4-byte word, where they fit: neither may undo the other.
    long neighbour = bytes < 4 ? word + bytes : word;
    Thread host =
        new Thread(
            () -> {
              for (int i = 0; i < rounds; i++) {
                other.atomic(Rmw.ADD, neighbour, bytes, 1, 0, Access.RELAXED);
              }
            });
    host.start();
    for (int i = 0; i < rounds; i++) {
      thread.atomic(Rmw.XOR, word, bytes, 0, 0, Access.RELAXED);
      thread.atomic(Rmw.ADD, word, bytes, 1, 0, Access.RELAXED);
    }
    host.join();
    long mask = bytes == 8 ? -1 : (1L << (8 * bytes)) - 1;
    if (neighbour == word) {
      assertThat(load(bytes, word, Access.WEAK)).isEqualTo((2L * rounds) & mask);
    } else {
      assertThat(load(bytes, word, Access.WEAK)).isEqualTo(rounds & mask);
      assertThat(load(bytes, neighbour, Access.WEAK)).isEqualTo(rounds & mask);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 7, 8, 9, 16, 60, 64, 4095, 4096, 4097, 20_000})
  void a_device_moves_exactly_its_bytes_at_any_alignment(int bytes) {
    SplittableRandom random = new SplittableRandom(bytes);
    byte[] payload = new byte[bytes];
    random.nextBytes(payload);
    long address = allocate(bytes + 64L);
    try (NativeBytes own = NativeBytes.ofHex("00".repeat(Math.max(bytes, 1)));
        NativeBytes back = new NativeBytes(Math.max(bytes, 1))) {
      RawMemory.copyIn(MemorySegment.ofArray(payload), 0, own.address(), bytes);
      for (int offset : new int[] {1, 8, 12, 16, 63}) {
        memoryIs(address, bytes + 64L, (byte) 0xaa);
        assertThat(device.writeThen(own.address(), address + offset, bytes, true, UNEXPECTED))
            .isTrue();
        assertThat(device.read(address + offset, back.address(), bytes, UNEXPECTED)).isTrue();
        assertThat(RawMemory.mismatch(own.address(), back.address(), bytes)).isEqualTo(-1);
        assertThat(RawMemory.getByte(address + offset - 1)).isEqualTo((byte) 0xaa);
        if (offset < 63) {
          assertThat(RawMemory.getByte(address + offset + bytes)).isEqualTo((byte) 0xaa);
        }
        if (bytes > 0) {
          assertThat(device.map(address + offset, bytes)).isEqualTo(address + offset);
        }
      }
    }
  }

  @Test
  void a_device_access_that_leaves_its_allocation_faults_and_moves_nothing() {
    long address = allocate(6000);
    memoryIs(address, 6000, (byte) 0x11);
    try (NativeBytes own = new NativeBytes(8192)) {
      for (long at : new long[] {address - 1, address + 6000 - 4999, 0, -1, Long.MIN_VALUE}) {
        assertThatThrownBy(() -> device.write(own.address(), at, 5000, false))
            .isInstanceOf(AccessFault.class)
            .hasMessageStartingWith("DMA write of 5000 bytes");
        assertThatThrownBy(() -> device.read(at, own.address(), 5000, UNEXPECTED))
            .isInstanceOf(AccessFault.class)
            .hasMessageStartingWith("DMA read of 5000 bytes");
        assertThatThrownBy(() -> device.map(at, 5000)).isInstanceOf(AccessFault.class);
      }
      assertThat(NativeBytes.hex(address, 6000)).isEqualTo("11".repeat(6000));
      assertThat(own.hex()).isEqualTo("00".repeat(8192));
    }
  }

  @Test
  void a_devices_atomic_returns_the_old_cell_and_writes_the_new_one() {
    long cell = allocate(16);
    try (NativeBytes result = new NativeBytes(16)) {
      RawMemory.putLong(cell, 0x8000_0000_0000_0001L);
      RawMemory.putLong(result.address() + 8, -1);
      assertThat(device.atomic(cell, 8, result.address(), old -> old + 2, UNEXPECTED)).isTrue();
      assertThat(RawMemory.getLong(result.address())).isEqualTo(0x8000_0000_0000_0001L);
      assertThat(RawMemory.getLong(cell)).isEqualTo(0x8000_0000_0000_0003L);
      RawMemory.putInt(cell + 8, 0x8000_0000);
      long[] seen = {0};
      assertThat(
              device.atomic(
                  cell + 8,
                  4,
                  result.address(),
                  old -> {
                    seen[0] = old;
                    return 7;
                  },
                  UNEXPECTED))
          .isTrue();
      assertThat(seen[0]).isEqualTo(0x8000_0000L);
      assertThat(RawMemory.getInt(result.address())).isEqualTo(0x8000_0000);
      assertThat(RawMemory.getInt(cell + 8)).isEqualTo(7);
      assertThat(RawMemory.getInt(cell + 12)).isZero();
      assertThat(RawMemory.getLong(result.address() + 8)).isEqualTo(-1);
    }
    assertThatThrownBy(() -> device.atomic(cell + 16, 8, 0, old -> old, UNEXPECTED))
        .isInstanceOf(AccessFault.class)
        .hasMessageStartingWith("DMA atomic of 8 bytes");
  }

  @Test
  void a_poller_on_another_host_thread_sees_a_message_whole() throws InterruptedException {
    int words = 16;
    int rounds = 5_000;
    long message = allocate(8L * words);
    long credit = allocate(8);
    Thread hca =
        new Thread(
            () -> {
              try (NativeBytes own = new NativeBytes(8L * words)) {
                for (long round = 1; round <= rounds; round++) {
                  for (int i = 0; RawMemory.getLongAcquire(credit) != round - 1; i++) {
                    Pause.spin(i);
                  }
                  for (int i = 0; i < words; i++) {
                    RawMemory.putLong(own.address() + 8L * i, round);
                  }
                  device.write(own.address(), message, 8 * words, false);
                }
              }
            });
    hca.setDaemon(true);
    hca.start();
    long torn = 0;
    for (long round = 1; round <= rounds; round++) {
      long last = message + 8L * (words - 1);
      for (int i = 0; thread.load64(last, Access.ACQUIRE) != round; i++) {
        Pause.spin(i);
      }
      for (int i = 0; i < words; i++) {
        torn += thread.load64(message + 8L * i, Access.WEAK) == round ? 0 : 1;
      }
      thread.store64(credit, round, Access.RELEASE);
    }
    hca.join();
    assertThat(torn).isZero();
  }

  @Test
  void timers_fire_in_the_order_of_their_times() {
    List<String> fired = new ArrayList<>();
    device.timer(200_000_000, ok -> fired.add("late " + ok));
    device.timer(0, ok -> fired.add("soon " + ok));
    device.timer(0, ok -> fired.add("next " + ok));
    assertThat(fabric.run(() -> fired.size() == 3, Long.MAX_VALUE)).isEqualTo(RunOutcome.DONE);
    assertThat(fired).containsExactly("soon true", "next true", "late true");
  }

  @Test
  void a_timer_may_set_the_next_one() {
    int[] ticks = {0};
    Completion[] tick = new Completion[1];
    tick[0] =
        ok -> {
          if (++ticks[0] < 5) {
            device.timer(1_000, tick[0]);
          }
        };
    device.timer(1_000, tick[0]);
    assertThat(fabric.run(() -> ticks[0] == 5, Long.MAX_VALUE)).isEqualTo(RunOutcome.DONE);
  }

  @Test
  void running_steps_attached_agents_until_they_are_detached() {
    int[] steps = {0};
    Agent[] agent = new Agent[1];
    agent[0] =
        budget -> {
          if (++steps[0] == 3) {
            fabric.detach(agent[0]);
          }
          return 1;
        };
    fabric.attachThread(GPU, agent[0]);
    int[] asked = {0};
    assertThat(fabric.run(() -> ++asked[0] > 10, Long.MAX_VALUE)).isEqualTo(RunOutcome.DONE);
    assertThat(steps[0]).isEqualTo(3);
    assertThat(fabric.run(() -> false, 0)).isEqualTo(RunOutcome.DEADLINE);
  }

  @Test
  void an_agent_that_throws_does_not_end_the_world() {
    Agent broken =
        budget -> {
          throw new IllegalStateException("trap");
        };
    fabric.attachThread(GPU, broken);
    assertThatThrownBy(() -> fabric.run(() -> false, Long.MAX_VALUE)).hasMessage("trap");
    fabric.detach(broken);
    int[] asked = {0};
    assertThat(fabric.run(() -> ++asked[0] > 3, Long.MAX_VALUE)).isEqualTo(RunOutcome.DONE);
  }

  @Test
  void its_times_are_emulated_and_delays_take_none() {
    assertThat(fabric.basis()).isEqualTo(Basis.EMULATED);
    assertThat(device.delay(1_000_000_000, UNEXPECTED)).isTrue();
    long before = fabric.now();
    assertThat(thread.now()).isGreaterThanOrEqualTo(before);
    assertThat(device.now()).isGreaterThanOrEqualTo(before);
  }

  @Test
  void fences_sleeps_and_hints_never_park() {
    for (int access : accesses().toList()) {
      thread.fence(access);
    }
    thread.spend(1_000_000_000);
    thread.executed(100);
    thread.pollFailed(1_000_000_000);
    assertThat(thread.parked).isFalse();
  }

  @Test
  void names_of_accesses_are_those_of_ptx() {
    assertThat(accesses().map(Access::name)).doesNotHaveDuplicates().hasSize(45);
    assertThat(Access.name(Access.RELEASE | Access.SYS)).isEqualTo("release.sys");
    assertThat(Access.name(Access.WEAK)).isEqualTo("weak");
    assertThat(Access.name(Access.SC | Access.GPU)).isEqualTo("sc.gpu");
    assertThat(Access.semantics(Access.ACQUIRE | Access.CTA)).isEqualTo(Access.ACQUIRE);
    assertThat(Access.scope(Access.ACQUIRE | Access.CTA)).isEqualTo(Access.CTA);
  }

  @Test
  void closing_leaves_nothing_accessible() {
    long address = allocate(8);
    fabric.close();
    assertThatThrownBy(() -> thread.load64(address, Access.WEAK)).isInstanceOf(AccessFault.class);
  }
}
