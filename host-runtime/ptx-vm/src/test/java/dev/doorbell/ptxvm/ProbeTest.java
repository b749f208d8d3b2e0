package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.engine.probe.Probe;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A probe hears of each instruction once, with what it read and wrote. */
class ProbeTest {
  /** Each thread stores tid * 3 to its word, waits for the block, and reads its neighbour's. */
  private static final String NEIGHBOUR =
      """
      .visible .entry neighbour(.param .u64 out) {
        .reg .pred %p<2>; .reg .b64 %rd<5>; .reg .b32 %r<8>;
        .shared .align 4 .b8 words[256];
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.lo.s32 %r2, %r1, 3;
        shl.b32 %r3, %r1, 2;
        mov.u32 %r4, words;
        add.s32 %r5, %r4, %r3;
        st.shared.u32 [%r5], %r2;
        bar.sync 0;
        setp.eq.u32 %p1, %r1, 0;
        @!%p1 ld.shared.u32 %r6, [%r5+-4];
        @%p1 mov.u32 %r6, 77;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3], %r6;
        ret;
      }
      """;

  private static final class Recorder implements Probe {
    final Map<String, Integer> counts = new HashMap<>();
    final Map<String, Integer> skipped = new HashMap<>();
    final List<Step> steps = new ArrayList<>();
    private final long thread;

    Recorder(long thread) {
      this.thread = thread;
    }

    @Override
    public boolean follows(long candidate) {
      return candidate == thread;
    }

    @Override
    public void counted(long of, Instruction instruction, boolean wasSkipped) {
      (wasSkipped ? skipped : counts).merge(instruction.opcode(), 1, Integer::sum);
    }

    @Override
    public void followed(Step step) {
      steps.add(step);
      counted(step.thread(), step.instruction(), step.skipped());
    }
  }

  private static Launch run(Recorder recorder, long seed, long[] words) {
    try (World world = new World(seed, VmOptions.defaults())) {
      world.gpu.observe(recorder);
      Memory out = world.device(4L * 64);
      Launch launch =
          world.runText(
              NEIGHBOUR, "neighbour", LaunchConfig.of(2, 32), new KernelArguments().add(out));
      for (int i = 0; i < words.length; i++) {
        words[i] = word(out, i);
      }
      return launch;
    }
  }

  @Test
  void every_instruction_is_told_once_however_long_it_waited() {
    for (long seed = 0; seed < 5; seed++) {
      Recorder recorder = new Recorder(-1);
      Launch launch = run(recorder, seed, new long[0]);
      assertThat(recorder.counts)
          .as("seed %d", seed)
          .containsEntry("bar.sync", 64)
          .containsEntry("st.global.u32", 64)
          .containsEntry("ld.shared.u32", 62)
          .containsEntry("ret", 64);
      assertThat(recorder.skipped)
          .as("seed %d", seed)
          .containsEntry("ld.shared.u32", 2)
          .containsEntry("mov.u32", 62);
      int told =
          recorder.counts.values().stream().mapToInt(Integer::intValue).sum()
              + recorder.skipped.values().stream().mapToInt(Integer::intValue).sum();
      assertThat(told)
          .as("seed %d", seed)
          .isEqualTo(64 * 15)
          .isLessThanOrEqualTo((int) launch.instructions());
    }
  }

  @Test
  void a_followed_thread_shows_what_it_read_and_wrote() {
    Recorder recorder = new Recorder(35);
    long[] words = new long[32];
    run(recorder, 1, words);
    assertThat(words[0]).isEqualTo(77);
    assertThat(words[3]).isEqualTo(6);
    assertThat(recorder.steps).hasSize(15);
    assertThat(recorder.steps.getFirst().threadName()).isEqualTo("block (1,0,0) thread (3,0,0)");
    Map<String, Probe.Step> byText =
        recorder.steps.stream()
            .collect(Collectors.toMap(step -> step.instruction().opcode(), s -> s, (a, b) -> b));
    Probe.Step product = byText.get("mul.lo.s32");
    assertThat(values(product.read())).containsExactly("%r1=3");
    assertThat(values(product.written())).containsExactly("%r2=9");
    Probe.Step load = byText.get("ld.shared.u32");
    assertThat(load.skipped()).isFalse();
    assertThat(values(load.read())).contains("%p1=0").anyMatch(text -> text.startsWith("%r5="));
    assertThat(values(load.written())).containsExactly("%r6=6");
    Probe.Step move = byText.get("mov.u32");
    assertThat(move.skipped()).isTrue();
    assertThat(move.written()).isEmpty();
  }

  @Test
  void a_launch_that_is_watched_does_what_it_does_unwatched() {
    long[] watched = new long[64];
    run(new Recorder(0), 4, watched);
    try (World world = new World(4, VmOptions.defaults())) {
      Memory out = world.device(4L * 64);
      world.runText(NEIGHBOUR, "neighbour", LaunchConfig.of(2, 32), new KernelArguments().add(out));
      for (int i = 0; i < 64; i++) {
        assertThat(watched[i]).as("word %d", i).isEqualTo(word(out, i));
      }
    }
  }

  @Test
  void a_fault_names_the_instruction_that_made_it() {
    try (World world = new World()) {
      world.gpu.observe(new Recorder(0));
      Launch launch =
          world.run(
              world.gpu.load("test.ptx", World.ptx(NEIGHBOUR)),
              "neighbour",
              LaunchConfig.of(1, 1),
              new KernelArguments().add(0x10L));
      assertThatThrownBy(launch::check)
          .hasMessageContaining("st.global.u32 [%rd3], %r6")
          .hasMessageContaining("thread (0,0,0)");
    }
  }

  private static long word(Memory memory, int index) {
    return (memory.getLong(index / 2 * 8L) >>> (32 * (index % 2))) & 0xffffffffL;
  }

  private static List<String> values(List<Probe.Value> values) {
    return values.stream().map(v -> v.register().name() + "=" + v.bits()).toList();
  }
}
