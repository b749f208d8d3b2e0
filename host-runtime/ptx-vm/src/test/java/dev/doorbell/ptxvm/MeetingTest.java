package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that wait for each other, in round robin (seed 0) and in seeded random order. */
class MeetingTest {
  private static World world(long seed) {
    return new World(seed, VmOptions.defaults());
  }

  private static void run(World world, String kernel, LaunchConfig config, KernelArguments with) {
    world.run(world.load("meeting.ptx"), kernel, config, with).check();
  }

  private static int word(Memory memory, int index) {
    return (int) memory.getLong(index * 4L);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3})
  void lanes_scan_by_shuffles(long seed) {
    try (World world = world(seed)) {
      Memory in = world.device(1024);
      Memory out = world.device(1024);
      for (int i = 0; i < 128; i++) {
        in.putLong(i * 8L, i * 2L | (i * 2L + 1) << 32);
      }
      run(world, "warp_scan", LaunchConfig.of(2, 96), new KernelArguments().add(in).add(out));
      for (int i = 0; i < 192; i++) {
        int first = i - i % 96 % 32;
        assertThat(word(out, i)).as("thread %d", i).isEqualTo((first + i) * (i - first + 1) / 2);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3})
  void halves_of_a_warp_meet_apart(long seed) {
    try (World world = world(seed)) {
      Memory out = world.device(1024);
      run(world, "halves", LaunchConfig.of(1, 64), new KernelArguments().add(out));
      for (int i = 0; i < 64; i++) {
        int lane = i & 31;
        assertThat(word(out, i)).isEqualTo((lane & 1) == 1 ? 0xaaaaaa00 : (lane ^ 4) * 10);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5})
  void activemask_names_lanes_that_are_here_together(long seed) {
    try (World world = world(seed)) {
      Memory counter = world.device(8);
      Memory groups = world.device(8);
      Memory out = world.device(1024);
      run(
          world,
          "aggregate",
          LaunchConfig.of(1, 96),
          new KernelArguments().add(counter).add(out).add(groups));
      assertThat(word(counter, 0)).isEqualTo(32);
      BitSet seen = new BitSet();
      for (int i = 0; i < 32; i++) {
        seen.set(word(out, i));
      }
      assertThat(seen.stream().filter(thread -> thread % 3 == 0).count()).isEqualTo(32);
      // One group a warp: lanes that are on their way are awaited.
      assertThat(word(groups, 0)).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2})
  void lanes_of_a_warp_pass_a_lock_on(long seed) {
    try (World world = world(seed)) {
      Memory lock = world.device(8);
      Memory sum = world.device(8);
      run(world, "lock", LaunchConfig.of(2, 64), new KernelArguments().add(lock).add(sum).add(20));
      assertThat(word(sum, 0)).isEqualTo(2 * 64 * 20);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2})
  void a_chain_of_a_thousand_waits_ends(long seed) {
    try (World world = world(seed)) {
      Memory flags = world.device(4096);
      run(world, "chain", LaunchConfig.of(4, 256), new KernelArguments().add(flags).add(1024));
      assertThat(word(flags, 0)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2})
  void blocks_meet_at_a_grid_barrier(long seed) {
    try (World world = world(seed)) {
      Memory arrived = world.device(8);
      Memory out = world.device(1024);
      run(
          world,
          "grid_barrier",
          LaunchConfig.of(16, 48).asCooperative(),
          new KernelArguments().add(arrived).add(out).add(10));
      assertThat(word(arrived, 0)).isEqualTo(160);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2})
  void named_barriers_take_turns(long seed) {
    try (World world = world(seed)) {
      Memory out = world.device(1024);
      run(world, "named", LaunchConfig.of(1, 64), new KernelArguments().add(out));
      for (int i = 0; i < 160; i++) {
        assertThat(word(out, i)).isEqualTo(i / 32 * 100 + 31 - i % 32);
      }
    }
  }

  @Test
  void barriers_reduce_predicates() {
    try (World world = world(0)) {
      Memory out = world.device(4096);
      run(world, "reductions", LaunchConfig.of(1, 96), new KernelArguments().add(out));
      for (int t = 0; t < 96; t++) {
        assertThat(word(out, t * 4)).isEqualTo(32);
        assertThat(word(out, t * 4 + 1)).isNotZero();
        assertThat(word(out, t * 4 + 2)).isNotZero();
        assertThat(word(out, t * 4 + 3)).isEqualTo(0x11111111 << (t & 3));
      }
    }
  }

  @Test
  void clocks_advance() {
    try (World world = world(0)) {
      Memory out = world.device(16);
      long before = world.fabric.now();
      run(world, "sleeps", LaunchConfig.of(1, 1), new KernelArguments().add(out));
      assertThat(out.getLong(0)).isGreaterThanOrEqualTo(before);
      assertThat(out.getLong(8)).isGreaterThan(out.getLong(0));
    }
  }

  @Test
  void threads_and_blocks_have_three_dimensions() {
    try (World world = world(0)) {
      Memory out = world.device(8192);
      LaunchConfig config =
          new LaunchConfig(3, 5, 2, 4, 7, 2, 0, false, LaunchConfig.DEFAULT_TIMEOUT_NANOS);
      run(world, "ids", config, new KernelArguments().add(out));
      for (int i = 0; i < 3 * 5 * 2 * 4 * 7 * 2; i++) {
        assertThat(word(out, i)).isEqualTo(i * 3 + 1);
      }
    }
  }

  @Test
  void atomics_return_the_old_value_and_leave_the_new_one() {
    try (World world = world(0)) {
      Memory narrow = world.device(64);
      Memory wide = world.device(128);
      Memory out = world.device(256);
      long[] before = {10, 9, 9, 0xffff, 0xf00f, 0xff00, 1, 7, 3, 0};
      for (int i = 0; i < 10; i++) {
        narrow.putBytes(i * 4L, little((int) before[i]));
        if (i < 8) {
          wide.putLong(i * 8L, before[i]);
        }
      }
      narrow.putBytes(40, little(Float.floatToRawIntBits(2.5f)));
      wide.putLong(64, Double.doubleToRawLongBits(0.5));
      run(
          world,
          "atomics",
          LaunchConfig.of(1, 1),
          new KernelArguments().add(narrow).add(wide).add(out));
      long[] after = {13, 5, 9, 0x0ff0, 0xfff0 | 0xf, 0xf0f0, 9, 70, 0, 3};
      for (int i = 0; i < 10; i++) {
        assertThat(word(narrow, i)).as("cell %d", i).isEqualTo((int) after[i]);
        if (i < 8) {
          assertThat(out.getLong(i * 8L)).isEqualTo(before[i]);
          assertThat(out.getLong(64 + i * 8L)).isEqualTo(before[i]);
          assertThat(wide.getLong(i * 8L)).isEqualTo(after[i]);
        }
      }
      assertThat(Float.intBitsToFloat(word(narrow, 10))).isEqualTo(3.75f);
      assertThat(Double.longBitsToDouble(wide.getLong(64))).isEqualTo(3.0);
      assertThat(out.getLong(128)).isEqualTo(3);
      assertThat(out.getLong(136)).isEqualTo(0);
    }
  }

  private static byte[] little(int value) {
    return new byte[] {
      (byte) value, (byte) (value >> 8), (byte) (value >> 16), (byte) (value >> 24)
    };
  }

  @Test
  void the_same_seed_gives_the_same_interleaving() {
    assertThat(trace(42)).isEqualTo(trace(42));
    assertThat(trace(42)).isNotEqualTo(trace(43));
  }

  /** Which thread got which place depends on nothing but the order of steps. */
  private static String trace(long seed) {
    try (World world = world(seed)) {
      Memory q = world.device(64);
      Memory ring = world.device(1 << 16);
      Memory words = world.device(4096);
      q.putLong(0, ring.address());
      for (int i = 1; i < 5; i++) {
        q.putLong(i * 8L, words.address() + i * 256L);
      }
      q.putLong(40, 1023);
      KernelArguments arguments =
          new KernelArguments().add(q).add(1L << 40).add(1L << 41).add(17).add(18).add(64).add(5);
      Launch launch =
          world.run(world.load("posts.ptx"), "put_post", LaunchConfig.of(2, 64), arguments);
      launch.check();
      StringBuilder owners = new StringBuilder();
      for (int i = 0; i < 2 * 64 * 5; i++) {
        owners.append(ring.getLong(i * 64L + 48) & 0xffffffffL).append(' ');
      }
      return owners.append(launch.instructions()).toString();
    }
  }
}
