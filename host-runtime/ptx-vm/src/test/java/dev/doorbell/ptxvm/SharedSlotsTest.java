package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.engine.link.KernelLinker;
import dev.doorbell.ptxvm.engine.link.KernelLinker.LinkOptions;
import dev.doorbell.ptxvm.engine.link.ModuleAnalysis;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Functions of which one never runs while the other does share registers, and no others. */
class SharedSlotsTest {
  /** {@code k} calls {@code left}, {@code right} and {@code leaf}; the first two call the third. */
  private static final String PTX =
      World.ptx(
          """
          .func (.param .u64 r) leaf (.param .u64 a)
          {
            .reg .b64 %d<8>;
            ld.param.u64 %d1, [a];
            add.u64 %d2, %d1, 1;
            mul.lo.u64 %d3, %d2, %d1;
            add.u64 %d4, %d3, %d2;
            st.param.u64 [r], %d4;
            ret;
          }
          """
              + caller("left", 10)
              + caller("right", 1000)
              + """
              .visible .entry k(.param .u64 p, .param .u64 out)
              {
                .reg .b64 %d<16>;
                ld.param.u64 %d1, [p];
                ld.param.u64 %d2, [out];
                mul.lo.u64 %d3, %d1, 7;
              """
              + call("left", "%d1", "%d4")
              + call("right", "%d1", "%d5")
              + call("leaf", "%d3", "%d6")
              + """
                add.u64 %d7, %d4, %d5;
                add.u64 %d7, %d7, %d6;
                add.u64 %d7, %d7, %d3;
                st.global.u64 [%d2], %d7;
                ret;
              }
              """);

  private static String call(String function, String argument, String result) {
    return """
    { .param .u64 x; .param .u64 y;
      st.param.u64 [x], %s;
      call (y), %s, (x);
      ld.param.u64 %s, [y]; }
    """
        .formatted(argument, function, result);
  }

  /** {@code a * factor + leaf(a) + a}, with the first product alive during the call. */
  private static String caller(String name, int factor) {
    return """
    .func (.param .u64 r) %s (.param .u64 a)
    {
      .reg .b64 %%d<8>;
      ld.param.u64 %%d1, [a];
      mul.lo.u64 %%d2, %%d1, %d;
    """
            .formatted(name, factor)
        + call("leaf", "%d1", "%d3")
        + """
          add.u64 %d4, %d2, %d3;
          add.u64 %d4, %d4, %d1;
          st.param.u64 [r], %d4;
          ret;
        }
        """;
  }

  private static long leaf(long a) {
    return (a + 1) * a + a + 1;
  }

  @Test
  void what_a_function_has_in_registers_outlives_the_functions_that_it_calls() {
    try (ParkingFabric fabric = new ParkingFabric(5);
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0), VmOptions.defaults())) {
      GpuModule module = gpu.load("slots.ptx", PTX);
      Memory out = gpu.allocate(MemoryKind.DEVICE, Long.BYTES, "out");
      for (long a = 1; a < 6; a++) {
        Launch launch =
            gpu.launch(
                module.kernel("k"),
                LaunchConfig.of(1, 1),
                new KernelArguments().add(a).add(out),
                gpu.createStream());
        fabric.run(launch::done, 60_000_000_000L);
        launch.check();
        assertThat(out.getLong(0)).isEqualTo(1010 * a + 2 * leaf(a) + 2 * a + leaf(7 * a) + 7 * a);
      }
    }
  }

  @Test
  void a_function_begins_behind_all_that_may_have_called_it() {
    Map<String, LinkedFunction> functions = functions(PTX, "k");
    assertThat(functions).containsOnlyKeys("k", "left", "right", "leaf");
    LinkedFunction left = functions.get("left");
    LinkedFunction right = functions.get("right");
    assertThat(functions.get("k").firstSlot).isZero();
    assertThat(left.firstSlot).isEqualTo(functions.get("k").lastSlot);
    assertThat(right.firstSlot).isEqualTo(left.firstSlot);
    assertThat(functions.get("leaf").firstSlot).isEqualTo(Math.max(left.lastSlot, right.lastSlot));
    assertThat(program(PTX, "k").poolStart()).isEqualTo(functions.get("leaf").lastSlot);
  }

  @Test
  void where_a_function_may_call_itself_each_has_slots_of_its_own() {
    String recursive =
        PTX.replace("mul.lo.u64 %d3, %d2, %d1;", call("left", "%d2", "%d3")); // leaf calls left
    List<LinkedFunction> functions = program(recursive, "k").functions();
    int next = 0;
    for (LinkedFunction function : functions) {
      assertThat(function.firstSlot).as(function.function.name()).isEqualTo(next);
      next = function.lastSlot;
    }
  }

  private static Map<String, LinkedFunction> functions(String ptx, String kernel) {
    return program(ptx, kernel).functions().stream()
        .collect(Collectors.toMap(each -> each.function.name(), Function.identity()));
  }

  private static Program program(String ptx, String kernel) {
    KernelLinker.Refusals refusals = new KernelLinker.Refusals(new TreeMap<>(), new TreeMap<>());
    ModuleAnalysis analysis = new ModuleAnalysis(PtxParser.parse("slots.ptx", ptx).module());
    Program program =
        KernelLinker.check(analysis, LinkOptions.untimed(4096, false), refusals)
            .get(kernel)
            .program();
    assertThat(refusals.atLoad()).isEmpty();
    return program;
  }
}
