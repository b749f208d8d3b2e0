package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** GPUs of one process execute one linked program, each on variables of its own. */
class SharedProgramTest {
  private static final int GPUS = 3;

  private static final String PTX =
      World.ptx(
          """
          .visible .global .align 8 .u64 total = 100;
          .visible .global .align 8 .u64 cells[4] = {1, 2, 3, 4};
          .visible .global .align 8 .u64 link = generic(cells) + 16;
          .func (.param .u64 r) triple (.param .u64 a)
          {
            .reg .b64 %d<4>;
            ld.param.u64 %d1, [a];
            mul.lo.u64 %d2, %d1, 3;
            st.param.u64 [r], %d2;
            ret;
          }
          .visible .entry sum(.param .u64 p, .param .u64 out)
          {
            .reg .b64 %d<24>;
            ld.param.u64 %d1, [p];
            ld.param.u64 %d2, [out];
            ld.global.u64 %d3, [total];
            ld.global.u64 %d4, [cells+8];
            ld.global.u64 %d5, [link];
            ld.u64 %d6, [%d5];
            mov.u64 %d7, cells;
            ld.global.u64 %d8, [%d7+24];
            { .param .u64 x; .param .u64 y;
              st.param.u64 [x], %d1;
              call (y), triple, (x);
              ld.param.u64 %d9, [y]; }
            add.u64 %d10, %d3, %d4;
            add.u64 %d10, %d10, %d6;
            add.u64 %d10, %d10, %d8;
            add.u64 %d10, %d10, %d9;
            st.global.u64 [total], %d10;
            st.global.u64 [%d2], %d7;
            ret;
          }
          """);

  @Test
  void each_gpu_has_its_own_variables() {
    try (ParkingFabric fabric = new ParkingFabric(5)) {
      List<VmGpu> gpus = new ArrayList<>();
      List<GpuModule> modules = new ArrayList<>();
      List<Memory> outs = new ArrayList<>();
      List<Launch> launches = new ArrayList<>();
      for (int rank = 0; rank < GPUS; rank++) {
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(rank, 0), VmOptions.defaults());
        GpuModule module = gpu.load("shared.ptx", PTX);
        Memory out = gpu.allocate(MemoryKind.DEVICE, Long.BYTES, "out");
        GpuStream stream = gpu.createStream();
        KernelArguments arguments = new KernelArguments().add((long) rank).add(out);
        launches.add(gpu.launch(module.kernel("sum"), LaunchConfig.of(1, 1), arguments, stream));
        gpus.add(gpu);
        modules.add(module);
        outs.add(out);
      }
      fabric.run(() -> launches.stream().allMatch(Launch::done), 60_000_000_000L);
      for (int rank = 0; rank < GPUS; rank++) {
        launches.get(rank).check();
        assertThat(modules.get(rank).global("total").getLong(0))
            .as("total of GPU %d", rank)
            .isEqualTo(100 + 2 + 3 + 4 + 3L * rank);
        assertThat(outs.get(rank).getLong(0))
            .isEqualTo(modules.get(rank).global("cells").address());
      }
      assertThat(outs.stream().map(out -> out.getLong(0)).distinct()).hasSize(GPUS);
      gpus.forEach(VmGpu::close);
    }
  }

  @Test
  void a_program_that_is_refused_is_refused_at_each_load() {
    String wrong = World.ptx(".entry k() { .reg .b32 %r<2>; frobnicate.b32 %r1, %r1; ret; }");
    try (ParkingFabric fabric = new ParkingFabric(5)) {
      for (int rank = 0; rank < 2; rank++) {
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(rank, 0), VmOptions.defaults());
        assertThatThrownBy(() -> gpu.load("wrong.ptx", wrong)).hasMessageContaining("frobnicate");
        gpu.close();
      }
    }
  }
}
