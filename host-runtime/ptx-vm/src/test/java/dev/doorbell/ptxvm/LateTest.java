package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.launch.VmOptions;
import org.junit.jupiter.api.Test;

/** Functions of a long file are parsed and linked when a thread first calls them. */
class LateTest {
  /** {@code k} calls the function that its argument chooses; {@code again} calls through it. */
  private static final String PTX =
      World.ptx(
              """
              .global .u64 calls = 0;
              .func (.param .u64 r) square (.param .u64 a)
              {
                .reg .b64 %d<4>; // a brace in a comment: }
                ld.param.u64 %d1, [a];
                mul.lo.u64 %d2, %d1, %d1;
                add.u64 %d2, %d2, 987654321;
                st.param.u64 [r], %d2;
                ret;
              }
              .func (.param .u64 r) counted (.param .u64 a)
              {
                .reg .b64 %d<4>;
                .reg .b32 %r<3>;
                ld.param.u64 %d1, [a];
                atom.global.add.u64 %d3, [calls], 1;
                mov.u32 %r2, %tid.x;
                cvt.u64.u32 %d2, %r2;
                add.u64 %d2, %d2, %d1;
                st.param.u64 [r], %d2;
                ret;
              }
              .func (.param .u64 r) broken (.param .u64 a)
              {
                frob.u64 [r], 3;
                ret;
              }
              .func (.param .u64 r) again (.param .u64 a);
              .global .align 8 .u64 table[4] = {square, counted, broken, again};
              .func nothing ()
              {
                ret;
              }
              .global .align 8 .u64 idle[1] = {nothing};
              .visible .entry n(.param .u64 a, .param .u64 out)
              {
                .reg .b64 %d<4>;
                ld.global.u64 %d1, [idle];
                way: .callprototype _ ();
                call %d1, way;
                ld.param.u64 %d2, [a];
                ld.param.u64 %d3, [out];
                st.global.u64 [%d3], %d2;
                ret;
              }
              """
                  + caller(".func (.param .u64 r) again (.param .u64 a)", "[r]", "param")
                  + caller(".visible .entry k(.param .u64 a, .param .u64 out)", "[%d9]", "global"))
          + "// "
          + "x".repeat(2 << 20)
          + "\n";

  /** Calls {@code table[a % 4]} with {@code a / 4} and adds 1,000 times {@code a}. */
  private static String caller(String head, String to, String space) {
    return head
        + """
        {
          .reg .b64 %d<10>;
          ld.param.u64 %d1, [a];
          and.b64 %d2, %d1, 3;
          shl.b64 %d2, %d2, 3;
          mov.u64 %d3, table;
          add.u64 %d3, %d3, %d2;
          ld.global.u64 %d4, [%d3];
          shr.u64 %d5, %d1, 2;
          {
            .param .u64 x;
            .param .u64 y;
            st.param.u64 [x], %d5;
            way: .callprototype (.param .u64 _) _ (.param .u64 _);
            call (y), %d4, (x), way;
            ld.param.u64 %d6, [y];
          }
          mad.lo.u64 %d6, %d1, 1000, %d6;
        """
        + (space.equals("global") ? "  ld.param.u64 %d9, [out];\n" : "")
        + "  st."
        + space
        + ".u64 "
        + to
        + ", %d6;\n  ret;\n}\n";
  }

  private static long result(World world, GpuModule module, long argument) {
    return result(world, module, "k", argument);
  }

  private static long result(World world, GpuModule module, String kernel, long argument) {
    try (Memory out = world.device(Long.BYTES)) {
      Launch launch =
          world.run(
              module, kernel, LaunchConfig.of(2, 1), new KernelArguments().add(argument).add(out));
      launch.check();
      return out.getLong(0);
    }
  }

  @Test
  void what_a_pointer_reaches_is_linked_when_a_thread_gets_there() {
    try (World world = new World()) {
      GpuModule module = world.gpu.load("long.ptx", PTX);
      assertThat(result(world, module, 5L << 2)).isEqualTo(25 + 987654321L + 20_000);
      assertThat(result(world, module, 7L << 2 | 1)).isBetween(29_007L, 29_008L);
      assertThat(module.global("calls").getLong(0)).isEqualTo(2);
    }
  }

  @Test
  void a_function_that_calls_through_pointers_finds_its_registers_again() {
    try (World world = new World()) {
      GpuModule module = world.gpu.load("long.ptx", PTX);
      long twice = (6L << 2) << 2 | 3;
      long thrice = twice << 2 | 3;
      long inner = 36 + 987654321L + 24_000;
      assertThat(result(world, module, thrice)).isEqualTo(inner + 1000 * twice + 1000 * thrice);
    }
  }

  /** Executions are counted by instruction, and those of the function come while a step runs. */
  @Test
  void a_function_without_registers_is_linked_and_executed_in_one_step() {
    VmOptions compiling = VmOptions.defaults().withEngine(VmOptions.Engine.WARP);
    try (World world = new World(0, compiling.withCompileAfter(1_000_000))) {
      GpuModule module = world.gpu.load("long.ptx", PTX);
      assertThat(result(world, module, "n", 7)).isEqualTo(7);
    }
  }

  @Test
  void an_instruction_that_cannot_be_run_stops_the_thread_that_calls_its_function() {
    try (World world = new World()) {
      GpuModule module = world.gpu.load("long.ptx", PTX);
      assertThatThrownBy(() -> result(world, module, 2))
          .hasMessageContaining("frob.u64")
          .hasMessageContaining("long.ptx:");
    }
  }
}
