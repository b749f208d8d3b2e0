package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * CUDA C++ compiled by nvcc 13.0 from {@code ptx/language.cu}, with {@code -O3} and with {@code -O0
 * -G}.
 */
@ParameterizedClass
@ValueSource(strings = {"language.ptx", "language_debug.ptx"})
class LanguageTest {
  private final String file;
  private World world;
  private GpuModule module;
  private Memory out;

  LanguageTest(String file) {
    this.file = file;
  }

  @BeforeEach
  void load() {
    world = new World();
    module = world.load(file);
    out = world.device(4096);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private Launch run(String kernel, int blocks, int threads, KernelArguments arguments) {
    return run(kernel, LaunchConfig.of(blocks, threads), arguments);
  }

  private Launch run(String kernel, LaunchConfig config, KernelArguments arguments) {
    Launch launch = world.run(module, kernel, config, arguments);
    launch.check();
    return launch;
  }

  private int word(int index) {
    return (int) out.getLong(index * 4L);
  }

  @Test
  void structures_pass_by_value_into_kernels_and_functions_and_back() {
    byte[] pair =
        ByteBuffer.allocate(16)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(1000)
            .putInt(77)
            .putShort((short) 0xfffe)
            .array();
    run("structures", 1, 1, new KernelArguments().add(pair).add(out));
    long a = 1000L * 3 + 77;
    int b = 77 ^ 0xfffe;
    assertThat(out.getLong(0)).isEqualTo(a * 3 + b);
    assertThat(out.getLong(8)).isEqualTo(b ^ 0xffff);
    assertThat(out.getLong(16)).isEqualTo(0);
  }

  @Test
  void functions_call_themselves() {
    run("recursion", 1, 8, new KernelArguments().add(8).add(out));
    int[] expected = {21, 34, 55, 89, 144, 233, 377, 610};
    for (int i = 0; i < 8; i++) {
      assertThat(word(i)).isEqualTo(expected[i]);
    }
  }

  @Test
  void endless_recursion_ends_the_kernel_and_not_the_machine() {
    Launch launch =
        world.run(module, "endless", LaunchConfig.of(1, 1), new KernelArguments().add(out));
    assertThatThrownBy(launch::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("stack overflow in")
        .hasMessageContaining("forever")
        .hasMessageContaining(file + ":")
        .hasMessageContaining("block (0,0,0) thread (0,0,0)");
  }

  @Test
  void functions_are_called_through_a_table() {
    run("pointers", 1, 32, new KernelArguments().add(out));
    for (int i = 0; i < 32; i++) {
      assertThat(word(i)).isEqualTo(i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : -i);
    }
  }

  @Test
  void constants_and_globals_hold_their_initial_values_and_the_host_sees_both() {
    run("constants", 1, 16, new KernelArguments().add(out));
    String text = "device text";
    int weight = 1;
    for (int i = 0; i < 8; i++) {
      assertThat(word(i)).isEqualTo(weight + text.charAt(i % 11));
      weight *= 10;
    }
    assertThat(module.global("counter").getBytes(0, 4)).containsExactly(42, 0, 0, 0);
    assertThat(module.global("weights").size()).isEqualTo(32);
    assertThatThrownBy(() -> module.global("wights"))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("weights");
    Memory counter = module.global("counter");
    module.close();
    assertThatThrownBy(() -> counter.putLong(0, 1)).isInstanceOf(AccessFault.class);
  }

  @Test
  void blocks_sum_in_static_and_dynamic_shared_memory() {
    int threads = 128;
    int blocks = 5;
    Memory in = world.device(4L * blocks * threads);
    ByteBuffer values = ByteBuffer.allocate(blocks * threads * 4).order(ByteOrder.LITTLE_ENDIAN);
    int[] sums = new int[blocks];
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < blocks * threads; i++) {
      int value = random.nextInt();
      values.putInt(value);
      sums[i / threads] += value;
    }
    in.putBytes(0, values.array());
    run(
        "block_sum",
        LaunchConfig.of(blocks, threads).withSharedBytes(threads * 4),
        new KernelArguments().add(in).add(out));
    for (int i = 0; i < blocks; i++) {
      assertThat(word(2 * i)).isEqualTo(sums[i]);
      assertThat(word(2 * i + 1)).isEqualTo(sums[i]);
    }
  }

  @Test
  void each_thread_has_local_memory_of_its_own() {
    Memory in = world.device(64);
    int[] values = new int[16];
    SplittableRandom random = new SplittableRandom(8);
    ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 16; i++) {
      values[i] = random.nextInt(1 << 20);
      bytes.putInt(values[i]);
    }
    in.putBytes(0, bytes.array());
    run("locals", 1, 64, new KernelArguments().add(in).add(out));
    for (int t = 0; t < 64; t++) {
      int[] own = new int[16];
      for (int i = 0; i < 16; i++) {
        own[i] = values[(t * 7 + i) & 15] + t;
      }
      int at = values[t & 15];
      int sum = 0;
      for (int i = 0; i < 16; i++) {
        own[(at + i) & 15] += own[(at * 3 + i) & 15];
        sum = sum * 31 + own[at & 15];
      }
      assertThat(word(t)).as("thread %d", t).isEqualTo(sum);
    }
  }

  @Test
  void printf_formats_as_c_does() {
    Launch launch = run("prints", 1, 32, new KernelArguments().add(-42).add(0L));
    assertThat(launch.output())
        .isEqualTo(
            """
            n=-42   -42|-42  |-0042 4294967295 ff -5000000000 hello z %
            1.500000 0.667 1.234568e+04 0.0001 1e+10
            """);
  }

  @Test
  void a_failed_assertion_ends_the_kernel_with_its_text() {
    run("asserts", 1, 32, new KernelArguments().add(1));
    Launch failed =
        world.run(module, "asserts", LaunchConfig.of(1, 32), new KernelArguments().add(-1));
    assertThatThrownBy(failed::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("assertion 'n > 0 && \"n is positive\"' failed")
        .hasMessageContaining("language.cu:");
  }

  @Test
  void switches_take_the_right_branch() {
    Memory in = world.device(256);
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < 32; i++) {
      in.putLong(i * 8L, random.nextLong());
    }
    run("switches", 1, 64, new KernelArguments().add(in).add(out));
    for (int i = 0; i < 64; i++) {
      int x = (int) (in.getLong(i / 2 * 8L) >>> (i % 2 * 32));
      int expected =
          switch (Integer.remainderUnsigned(x, 9)) {
            case 0 -> x * 3;
            case 1 -> x ^ 0x55;
            case 2 -> x + 77;
            case 3 -> Integer.divideUnsigned(x, 5);
            case 4 -> Integer.bitCount(x);
            case 5 -> Integer.numberOfLeadingZeros(x);
            case 6 -> Integer.reverse(x);
            default -> 0;
          };
      assertThat(word(i)).as("operand %x", x).isEqualTo(expected);
    }
  }
}
