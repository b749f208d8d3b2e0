package dev.doorbell.interop.shim.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FirstKernelTest {
  @Test
  void the_first_kernel_runs_to_its_end() throws Exception {
    assertThat(ProgramGpus.runFirstKernel()).isTrue();
  }
}
