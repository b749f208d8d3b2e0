package dev.doorbell.core.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class KernelArgumentsTest {
  /** A kernel whose parameters lie at given offsets. */
  private record Shape(int parameterBytes, List<Integer> offsets) implements Kernel {
    Shape(int parameterBytes, Integer... offsets) {
      this(parameterBytes, List.of(offsets));
    }

    @Override
    public GpuModule module() {
      throw new UnsupportedOperationException();
    }

    @Override
    public String name() {
      return "put_latency";
    }

    @Override
    public int parameterOffset(int index) {
      return offsets.get(index);
    }

    @Override
    public int parameters() {
      return offsets.size();
    }
  }

  @Test
  void arguments_lie_at_their_parameters_little_endian() {
    byte[] block =
        new KernelArguments()
            .add(0x0102_0304)
            .add(0x1112_1314_1516_1718L)
            .add(new byte[] {0x21, 0x22, 0x23})
            .layOut(new Shape(20, 0, 8, 16));
    assertThat(block)
        .containsExactly(
            4, 3, 2, 1, 0, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x21, 0x22,
            0x23, 0);
  }

  @Test
  void a_kernel_without_parameters_takes_no_arguments() {
    assertThat(new KernelArguments().layOut(new Shape(0))).isEmpty();
  }

  @Test
  void too_few_or_too_many_arguments_are_refused() {
    Shape two = new Shape(16, 0, 8);
    assertThatThrownBy(() -> new KernelArguments().add(1L).layOut(two))
        .isInstanceOf(GpuException.class)
        .hasMessage("kernel put_latency takes 2 parameters, 1 arguments were given");
    assertThatThrownBy(() -> new KernelArguments().add(1L).add(2L).add(3L).layOut(two))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("3 arguments");
  }

  @Test
  void an_argument_that_is_longer_than_its_parameter_is_refused() {
    assertThatThrownBy(() -> new KernelArguments().add(1L).add(2L).layOut(new Shape(12, 0, 4)))
        .isInstanceOf(GpuException.class)
        .hasMessage("argument 0 of kernel put_latency has 8 bytes, its parameter has room for 4");
    assertThatThrownBy(() -> new KernelArguments().add(1L).add(2L).layOut(new Shape(12, 0, 8)))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("argument 1 of kernel put_latency");
  }

  @Test
  void structures_are_copied_when_added() {
    byte[] structure = {1, 2};
    KernelArguments arguments = new KernelArguments().add(structure);
    structure[0] = 9;
    arguments.bytes(0)[1] = 9;
    assertThat(arguments.bytes(0)).containsExactly(1, 2);
    assertThat(arguments.size()).isEqualTo(1);
  }

  @Test
  void launches_count_threads_and_blocks() {
    LaunchConfig config =
        LaunchConfig.of(3, 64).withTimeout(5).withSharedBytes(1024).asCooperative();
    assertThat(config).isEqualTo(new LaunchConfig(3, 1, 1, 64, 1, 1, 1024, true, 5));
    assertThat(config.blocks()).isEqualTo(3);
    assertThat(config.threadsPerBlock()).isEqualTo(64);
  }
}
