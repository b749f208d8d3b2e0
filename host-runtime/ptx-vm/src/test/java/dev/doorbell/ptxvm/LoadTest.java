package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is loaded, what is refused, and how. */
class LoadTest {
  @Test
  void everything_that_is_refused_is_listed_at_once_with_its_line() {
    String ptx =
        World.ptx(
            """
            .visible .entry k(.param .u64 p) {
              .reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .f32 %f<3>;
              ld.param.u64 %rd1, [p];
              tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [t, {%f1,%f2}];
              frobnicate.u32 %r1, %r2;
              add.s32 %r1, %r2, %r77;
              add.s32 %r1, %r2, %nothing;
              ld.global.u32 %r1, [%rd1;
              ld.global.u32 %r1, %rd1;
              st.global.v4.b64 [%rd1], {%rd1, %rd1, %rd1};
              add.s32 %r1, %r2;
              bra $nowhere;
              ret;
            }
            """);
    try (World world = new World()) {
      long before = world.fabric.memory().bytesInUse();
      assertThatThrownBy(() -> world.gpu.load("bad.ptx", ptx))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("bad.ptx cannot be loaded: 8 lines are refused")
          .hasMessageContaining("bad.ptx:8: instruction not supported: frobnicate.u32 %r1, %r2;")
          .hasMessageContaining("bad.ptx:9: register '%r77' is not declared")
          .hasMessageContaining("bad.ptx:10: register '%nothing' is not declared")
          .hasMessageContaining("bad.ptx:11: expected ']', found ';'")
          .hasMessageContaining("bad.ptx:12: an address in brackets is needed")
          .hasMessageContaining("bad.ptx:13: an address and registers in braces are needed")
          .hasMessageContaining("bad.ptx:14: operands or modifiers are missing")
          .hasMessageContaining("bad.ptx:15: '$nowhere' is not declared");
      assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
    }
  }

  @Test
  void directives_need_no_line_of_their_own() {
    String ptx =
        ".version 8.0 .target sm_90, debug .address_size 64 .file 1 \"a.cu\"\n"
            + ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %v; .loc 1 3 5"
            + " ld.param.u64 %p, [p]; .loc 1 4 5 mov.u32 %v, 7; st.global.u32 [%p], %v; ret; }";
    try (World world = new World()) {
      Memory out = world.device(8);
      GpuModule module = world.gpu.load("line.ptx", ptx);
      world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
      assertThat((int) out.getLong(0)).isEqualTo(7);
    }
  }

  /** A GPU has 512 KiB for a thread: a frame alone, and a chain of calls. */
  @Test
  void more_local_memory_than_a_thread_can_have_is_refused_with_function_bytes_and_limit() {
    String ptx =
        World.ptx(
            """
            .func f() { .local .align 16 .b8 deep[FRAME]; ret; }
            .visible .entry k() {
              .local .align 16 .b8 own[OWN];
              call.uni f, ();
              ret;
            }
            """);
    try (World world = new World()) {
      String most = ptx.replace("OWN", "524160").replace("FRAME", "128");
      world
          .run(world.gpu.load("most.ptx", most), "k", LaunchConfig.of(1, 2), new KernelArguments())
          .check();
      long before = world.fabric.memory().bytesInUse();
      assertThatThrownBy(() -> world.gpu.load("more.ptx", most.replace("[128]", "[129]")))
          .hasMessageContaining("more.ptx:5: 'k' and what it calls take 524416 bytes of local")
          .hasMessageContaining("at most 524288 are possible");
      String huge = ptx.replace("OWN", "128").replace("FRAME", "2000000000");
      assertThatThrownBy(() -> world.gpu.load("huge.ptx", huge))
          .hasMessageContaining("'k' and what it calls take 2000000128 bytes")
          .hasMessageContaining("huge.ptx cannot be loaded: 1 line is refused");
      assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
    }
  }

  @Test
  void what_is_not_ptx_is_refused() {
    try (World world = new World()) {
      for (String text : new String[] {"", "hello", "#include <x>", "\0\1\2", "{}", ";"}) {
        assertThatThrownBy(() -> world.gpu.load("x.ptx", text)).isInstanceOf(GpuException.class);
      }
    }
  }

  @Test
  void labels_belong_to_their_block_and_braces_may_hold_one_register() {
    // Inline assembly of other libraries: the same block twice in a function, each with a loop.
    String block =
        """
        {
        .reg .pred P;
        WAIT:
          setp.lt.u32 P, %r1, LIMIT;
          @P bra MORE;
          bra DONE;
        MORE:
          add.u32 %r1, %r1, 3;
          bra WAIT;
        DONE:
        }
        """;
    String ptx =
        World.ptx(
            """
            .visible .entry k(.param .u64 p) {
              .reg .b64 %rd<3>; .reg .b32 %r<3>;
              ld.param.u64 {%rd1}, [p];
              ld.relaxed.gpu.global.u32 {%r1}, [%rd1];
            """
                + block.replace("LIMIT", "10")
                + "st.global.u32 [%rd1+4], {%r1};\n"
                + block.replace("LIMIT", "20")
                + """
                  st.global.u32 [%rd1+8], {%r1};
                  bra OUT;
                  trap;
                OUT:
                  ret;
                }
                """);
    try (World world = new World()) {
      Memory out = world.device(16);
      out.putLong(0, 4);
      GpuModule module = world.gpu.load("labels.ptx", ptx);
      world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
      assertThat((int) out.getLong(4)).isEqualTo(10);
      assertThat((int) out.getLong(8)).isEqualTo(22);
      assertThatThrownBy(
              () ->
                  world.gpu.load(
                      "outside.ptx", ptx.replace("bra OUT;", "bra MORE;").replace("OUT:", "IN:")))
          .hasMessageContaining("'MORE' is not declared");
      assertThatThrownBy(() -> world.gpu.load("twice.ptx", ptx.replace("DONE:", "WAIT:")))
          .hasMessageContaining("label 'WAIT' stands twice");
    }
  }

  @Test
  void names_are_scoped_modifiers_come_in_any_order_and_loads_widen() {
    String ptx =
        World.ptx(
            """
            .visible .entry k(.param .u64 p, .param .align 8 .b8 s[12], .param .u16 h)
            .maxntid 32, 1, 1
            .minnctapersm 1
            {
              .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p;
              .loc 1 2 3
              ld.param.u64 %rd1, [p];
              { .reg .b32 t; mov.u32 t, 5; { .reg .b64 t; mov.u64 t, -1; st.u64 [%rd1], t; }
                st.global.u32 [%rd1+8], t; }
              atom.global.add.relaxed.gpu.u32 %r1, [%rd1+8], 2;
              atom.add.gpu.global.relaxed.u32 %r1, [%rd1+8], 3;
              ld.global.s8 %rd2, [%rd1];
              st.global.u64 [%rd1+16], %rd2;
              ld.global.u16 %rd3, [%rd1];
              st.global.u64 [%rd1+24], %rd3;
              ld.global.s16 %r3, [%rd1];
              st.global.u32 [%rd1+32], %r3;
              ld.param.v2.u32 {%r4, %r5}, [s];
              st.global.v2.u32 [%rd1+40], {%r5, %r4};
              ld.param.u32 %r6, [s+8];
              ld.param.u16 %r7, [h];
              add.u32 %r6, %r6, %r7;
              st.global.u32 [%rd1+48], %r6;
              setp.ne.u32 %p, %r6, 0;
              @!%p trap;
              @%p st.global.u8 [%rd1+52], 200;
              @!%p bra DONE;
              // The last line of the kernel runs off its end.
            DONE:
            }
            """);
    try (World world = new World()) {
      GpuModule module = world.gpu.load("k.ptx", ptx);
      Kernel kernel = module.kernel("k");
      assertThat(kernel.parameters()).isEqualTo(3);
      assertThat(kernel.parameterOffset(1)).isEqualTo(8);
      assertThat(kernel.parameterOffset(2)).isEqualTo(20);
      assertThat(kernel.parameterBytes()).isEqualTo(22);
      Memory out = world.device(64);
      byte[] s = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
      world
          .run(
              module,
              "k",
              LaunchConfig.of(1, 1),
              new KernelArguments().add(out).add(s).add(new byte[] {9, 0}))
          .check();
      assertThat(out.getLong(0)).isEqualTo(-1);
      assertThat(out.getLong(8)).isEqualTo(10);
      assertThat(out.getLong(16)).isEqualTo(-1);
      assertThat(out.getLong(24)).isEqualTo(0xffff);
      assertThat(out.getLong(32)).isEqualTo(0xffffffffL);
      assertThat(out.getLong(40)).isEqualTo(1L << 32 | 2);
      assertThat(out.getLong(48)).isEqualTo(200L << 32 | 12);
    }
  }

  @Test
  void sub_word_and_half_atomics_touch_their_cell_only() {
    String ptx =
        World.ptx(
            """
            .visible .entry k(.param .u64 p) {
              .reg .b64 %p, %v; .reg .b16 %h; .reg .b32 %r;
              ld.param.u64 %p, [p];
              atom.global.cas.b16 %h, [%p+2], 0x2222, 0x9999;
              st.global.u16 [%p+64], %h;
              atom.global.add.noftz.f16x2 %r, [%p+8], 0x3c003c00;
              red.global.add.noftz.bf16x2 [%p+12], 0x3f803f80;
              red.relaxed.sys.global.min.s64 [%p+16], -5;
              red.async.add.u32 [%p], 1;
              ret;
            }
            """);
    try (World world = new World()) {
      assertThatThrownBy(() -> world.gpu.load("k.ptx", ptx))
          .hasMessageContaining("an mbarrier is needed");
      GpuModule module = world.gpu.load("k.ptx", ptx.replace("red.async.add.u32 [%p], 1;", ""));
      Memory cells = world.device(128);
      cells.putLong(0, 0x4444333322221111L);
      cells.putLong(8, 0x4000_3f80_3c00_4000L);
      cells.putLong(16, 3);
      world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(cells)).check();
      assertThat(cells.getLong(0)).isEqualTo(0x4444333399991111L);
      assertThat(cells.getLong(8)).isEqualTo(0x4040_4000_4000_4200L);
      assertThat(cells.getLong(16)).isEqualTo(-5);
      assertThat(cells.getLong(64)).isEqualTo(0x2222);
    }
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void mutated_files_load_or_are_refused_and_nothing_else() {
    String[] files = {
      World.text("language.ptx"), World.text("mistakes.ptx"), World.text("posts.ptx")
    };
    String symbols = "{}()[]<>,;:.@!|+-*=\"\\/_%$0123456789abz\n ";
    int loaded = 0;
    int refused = 0;
    try (World world = new World()) {
      for (int seed = 0; seed < 500; seed++) {
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder text = new StringBuilder(files[seed % files.length]);
        int from = random.nextInt(text.length());
        if (random.nextInt(4) == 0) {
          text.setLength(from);
        }
        for (int i = random.nextInt(6); i >= 0 && !text.isEmpty(); i--) {
          mutate(text, symbols, random);
        }
        try {
          GpuModule module = world.gpu.load("fuzz.ptx", text.toString());
          runAll(world, module);
          module.close();
          loaded++;
        } catch (GpuException e) {
          assertThat(e).as("seed %d", seed).hasMessageContaining("fuzz.ptx");
          refused++;
        } catch (RuntimeException | StackOverflowError e) {
          throw new AssertionError("seed " + seed, e);
        }
      }
    }
    assertThat(loaded).isPositive();
    assertThat(refused).isPositive();
  }

  /** Whatever the kernels do now, they end or are stopped. */
  private static void runAll(World world, GpuModule module) {
    Memory some = world.device(4096);
    for (String entry : module.entries()) {
      Kernel kernel = module.kernel(entry);
      KernelArguments arguments = new KernelArguments();
      for (int i = 0; i < kernel.parameters(); i++) {
        int bytes = kernel.parameterBytes(i);
        if (bytes == Long.BYTES) {
          arguments.add(some);
        } else {
          arguments.add(new byte[bytes]);
        }
      }
      LaunchConfig config = LaunchConfig.of(1, 33).withTimeout(1_000_000);
      assertThat(world.run(module, entry, config, arguments).done()).isTrue();
    }
    some.close();
  }

  private static void mutate(StringBuilder text, String symbols, SplittableRandom random) {
    int at = random.nextInt(text.length());
    int length = Math.min(random.nextInt(40), text.length() - at);
    switch (random.nextInt(5)) {
      case 0 -> text.setCharAt(at, symbols.charAt(random.nextInt(symbols.length())));
      case 1 -> text.delete(at, at + length);
      case 2 -> text.insert(at, text.substring(at, at + length));
      case 3 -> text.insert(at, symbols.charAt(random.nextInt(symbols.length())));
      default -> {
        int to = random.nextInt(text.length());
        text.insert(to, text.substring(at, at + length));
      }
    }
  }
}
