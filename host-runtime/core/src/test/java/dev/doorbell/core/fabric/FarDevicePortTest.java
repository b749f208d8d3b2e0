package dev.doorbell.core.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FarDevicePortTest {
  private static final int BYTES = 4096;

  /** Carries out one transfer a step, if it is let. */
  private static final class SlowEngine implements DmaEngine {
    private final long start;
    private final Queue<Runnable> transfers = new ArrayDeque<>();
    private boolean stopped = true;

    SlowEngine(long start) {
      this.start = start;
    }

    @Override
    public boolean reaches(long address, long bytes) {
      return address >= start && address <= start + BYTES - bytes;
    }

    @Override
    public void read(long address, long target, int bytes, Completion completion) {
      transfers.add(
          () -> {
            RawMemory.copy(address, target, bytes);
            completion.completed(true);
          });
    }

    @Override
    public void write(long source, long address, int bytes, @Nullable Completion visible) {
      long kept = Arena.global().allocate(bytes, 64).address();
      RawMemory.copy(source, kept, bytes);
      transfers.add(
          () -> {
            RawMemory.copy(kept, address, bytes);
            if (visible != null) {
              visible.completed(true);
            }
          });
    }

    @Override
    public boolean isIdle() {
      return transfers.isEmpty();
    }

    @Override
    public int step(int budget) {
      if (stopped || transfers.isEmpty()) {
        return 0;
      }
      transfers.remove().run();
      return 1;
    }
  }

  private final DirectFabric fabric = new DirectFabric();
  private final long far = Arena.global().allocate(BYTES, BYTES).address();
  private final SlowEngine engine = new SlowEngine(far);
  private final long source = Arena.global().allocate(BYTES, 64).address();
  private long near;
  private DevicePort port = fabric.attachDevice(Locus.nic(0, 1), budget -> 0);

  @BeforeEach
  void open() {
    near = fabric.memory().allocate(MemoryKind.HOST, Locus.cpu(0), BYTES, "near").address();
    fabric.reach(engine);
    port = fabric.attachDevice(Locus.nic(0, 0), budget -> 0);
  }

  @AfterEach
  void close() {
    fabric.close();
  }

  private void write(long address, long value) {
    RawMemory.putLong(source, value);
    port.write(source, address, Long.BYTES, false);
  }

  @Test
  void what_is_far_is_reached_and_never_in_place() {
    assertThat(fabric.reaches(far, BYTES)).isTrue();
    assertThat(fabric.reaches(far, BYTES + 1)).isFalse();
    assertThat(port.map(far, 8)).isZero();
    assertThat(port.map(near, 8)).isEqualTo(near);
    assertThat(port.isImmediate()).isFalse();
  }

  @Test
  void a_write_to_the_host_waits_for_one_to_far_memory_before_it() {
    write(far, 1);
    write(near, 2);
    assertThat(RawMemory.getLong(near)).isZero();
    assertThat(port.map(near, 8)).as("not in place while a write waits").isZero();
    engine.stopped = false;
    fabric.quiesce();
    assertThat(RawMemory.getLong(far)).isEqualTo(1);
    assertThat(RawMemory.getLong(near)).isEqualTo(2);
  }

  @Test
  void a_relaxed_write_waits_for_nobody() {
    write(far, 1);
    RawMemory.putLong(source, 2);
    port.write(source, near, Long.BYTES, true);
    assertThat(RawMemory.getLong(near)).isEqualTo(2);
  }

  @Test
  void a_read_sees_the_write_before_it_wherever_that_waits() {
    write(far, 1);
    write(near, 2);
    long target = source + 64;
    boolean[] done = new boolean[2];
    assertThat(port.read(near, target, Long.BYTES, ok -> done[0] = true)).isFalse();
    assertThat(port.read(far, target + 8, Long.BYTES, ok -> done[1] = true)).isFalse();
    engine.stopped = false;
    fabric.run(() -> done[0] && done[1], Long.MAX_VALUE);
    assertThat(RawMemory.getLong(target)).isEqualTo(2);
    assertThat(RawMemory.getLong(target + 8)).isEqualTo(1);
  }

  @Test
  void many_writes_that_wait_arrive_in_order() {
    write(far, 1);
    for (int i = 1; i <= 300; i++) {
      write(near + 8L * (i % 100), i);
    }
    engine.stopped = false;
    fabric.quiesce();
    for (int i = 0; i < 100; i++) {
      assertThat(RawMemory.getLong(near + 8L * i)).isEqualTo(i == 0 ? 300 : 200 + i);
    }
  }

  @Test
  void atomics_on_far_memory_lose_nothing_to_each_other() {
    engine.stopped = false;
    int[] ended = new int[1];
    for (int i = 0; i < 50; i++) {
      port.atomic(far, Long.BYTES, source + 128, old -> old + 1, ok -> ended[0]++);
    }
    fabric.run(() -> ended[0] == 50, Long.MAX_VALUE);
    assertThat(RawMemory.getLong(far)).isEqualTo(50);
  }
}
