package dev.doorbell.core.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class KernelArgumentsTest {
  /** A kernel with parameters of given widths, each aligned to its width as PTX aligns integers. */
  private record Shape(List<Integer> widths) implements Kernel {
    Shape(Integer... widths) {
      this(List.of(widths));
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
    public int parameterBytes() {
      return widths.isEmpty()
          ? 0
          : parameterOffset(parameters() - 1) + parameterBytes(parameters() - 1);
    }

    @Override
    public int parameterOffset(int index) {
      int end = index == 0 ? 0 : parameterOffset(index - 1) + parameterBytes(index - 1);
      return (end + widths.get(index) - 1) / widths.get(index) * widths.get(index);
    }

    @Override
    public int parameterBytes(int index) {
      return widths.get(index);
    }

    @Override
    public int parameters() {
      return widths.size();
    }
  }

  @Test
  void arguments_lie_at_their_parameters_little_endian() {
    byte[] block =
        new KernelArguments()
            .add(0x0102_0304)
            .add(0x1112_1314_1516_1718L)
            .add(new byte[] {0x21, 0x22, 0x23, 0x24})
            .layOut(new Shape(4, 8, 4));
    assertThat(block)
        .containsExactly(
            4, 3, 2, 1, 0, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x21, 0x22,
            0x23, 0x24);
  }

  @Test
  void a_kernel_without_parameters_takes_no_arguments() {
    assertThat(new KernelArguments().layOut(new Shape())).isEmpty();
  }

  @Test
  void too_few_or_too_many_arguments_are_refused() {
    Shape two = new Shape(8, 8);
    assertThatThrownBy(() -> new KernelArguments().add(1L).layOut(two))
        .isInstanceOf(GpuException.class)
        .hasMessage("kernel put_latency takes 2 parameters, 1 arguments were given");
    assertThatThrownBy(() -> new KernelArguments().add(1L).add(2L).add(3L).layOut(two))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("3 arguments");
  }

  @Test
  void an_argument_that_is_not_as_long_as_its_parameter_is_refused() {
    Shape shape = new Shape(4, 8);
    // Eight bytes would fit, for the next parameter is aligned to eight.
    assertThatThrownBy(() -> new KernelArguments().add(1L).add(2L).layOut(shape))
        .isInstanceOf(GpuException.class)
        .hasMessage(
            "argument 0 of kernel put_latency has 8 bytes, its parameter has 4; pass an int for"
                + " .b32, a long for .b64");
    assertThatThrownBy(() -> new KernelArguments().add(1).add(2).layOut(shape))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("argument 1 of kernel put_latency has 4 bytes, its parameter has 8");
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
