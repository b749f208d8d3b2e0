package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.ir.Refusal;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms of PTX that nvcc does not write and people do. */
class FormsTest {
  private World world;
  private Memory out;

  @BeforeEach
  void open() {
    world = new World();
    out = world.device(4096);
  }

  @AfterEach
  void close() {
    world.close();
  }

  /** Runs the body of a kernel whose {@code %out} points to 4 KiB. */
  private int[] run(int threads, String functions, String body) {
    String text =
        functions
            + ".visible .entry k(.param .u64 p) {\n.reg .u64 %out;\nld.param.u64 %out, [p];\n"
            + body
            + "\nret;\n}\n";
    Launch launch =
        world.runText(text, "k", LaunchConfig.of(1, threads), new KernelArguments().add(out));
    launch.check();
    int[] words = new int[8];
    for (int i = 0; i < words.length; i++) {
      words[i] = (int) (out.getLong(4L * i) & 0xffffffffL);
    }
    return words;
  }

  @Test
  void vector_registers_are_loaded_taken_apart_and_moved_as_one() {
    out.putLong(16, 2L << 32 | 1);
    out.putLong(24, 4L << 32 | 3);
    int[] words =
        run(
            1,
            "",
            """
            .reg .v4 .u32 v, w<2>;
            .reg .v2 .b32 pair;
            ld.global.v4.u32 v, [%out+16];
            mov.v4.u32 w1, {v.w, v.z, v.y, v.x};
            mov.v4.u32 w1, {w1.y, w1.x, w1.w, w1.z};
            add.u32 w1.x, w1.x, v.a;
            mov.v2.b32 pair, {v.g, w1.r};
            st.global.v4.u32 [%out], w1;
            st.global.v2.b32 [%out+16], pair;
            """);
    assertThat(words).startsWith(7, 4, 1, 2, 2, 7);
  }

  @Test
  void functions_take_and_give_registers_on_every_way_out() {
    int[] words =
        run(
            1,
            """
            .func (.reg .u32 sum, .reg .u64 wide) both(.reg .u32 a, .param .u32 c, .reg .s16 b) {
            .reg .pred %p;
            .reg .u32 %t;
            ld.param.u32 %t, [c];
            cvt.s32.s16 sum, b;
            mul.wide.u32 wide, a, %t;
            setp.gt.u32 %p, a, 10;
            @%p ret;
            add.u32 sum, sum, a;
            }
            """,
            """
            .reg .u32 %s, %a;
            .reg .u64 %w;
            .reg .s16 %b;
            mov.u32 %a, 5;
            mov.s16 %b, -7;
            call (%s, %w), both, (%a, 3, %b);
            st.global.u32 [%out], %s;
            st.global.u64 [%out+8], %w;
            mov.u32 %a, 20;
            call (%s, %w), both, (%a, 0x40000000, %b);
            st.global.u32 [%out+4], %s;
            st.global.u64 [%out+16], %w;
            """);
    assertThat(words).startsWith(-2, -7, 15, 0, 0, 5);
  }

  @Test
  void vote_and_shuffle_without_sync_are_among_the_lanes_that_are_here() {
    String old =
        """
        .version 6.0
        .target sm_30
        .address_size 64
        .visible .entry k(.param .u64 p) {
        .reg .u64 %out; .reg .u32 %t, %b, %s; .reg .pred %p, %q;
        ld.param.u64 %out, [p];
        mov.u32 %t, %tid.x;
        setp.lt.u32 %p, %t, 8;
        setp.ne.u32 %q, %t, 3;
        @!%p bra DONE;
        vote.ballot.b32 %b, %q;
        shfl.idx.b32 %s, %t, 5, 31;
        setp.eq.u32 %q, %t, 0;
        @%q st.global.v2.u32 [%out], {%b, %s};
        DONE: ret;
        }
        """;
    Launch launch =
        world.run(
            world.gpu.load("old.ptx", old),
            "k",
            LaunchConfig.of(1, 32),
            new KernelArguments().add(out));
    launch.check();
    assertThat(out.getLong(0)).isEqualTo(5L << 32 | 0xf7);
    assertThat(refusal(old.replace("6.0", "6.4").replace("sm_30", "sm_70")))
        .contains("'vote' without .sync is not supported on sm_70");
  }

  @Test
  void warp_operations_take_their_modifiers_in_any_order() {
    run(
        32,
        "",
        """
        .reg .u32 %t, %a<9>; .reg .pred %p, %q, %one;
        mov.u32 %t, %tid.x;
        setp.lt.u32 %p, %t, 4;
        setp.eq.u32 %one, %t, 3;
        vote.ballot.sync.b32 %a1, %p, -1;
        vote.any.sync.pred %q, %p, -1;
        selp.u32 %a2, 1, 0, %q;
        vote.all.sync.pred %q, %p, -1;
        selp.u32 %a3, 1, 0, %q;
        shfl.bfly.sync.b32 %a4, %t, 1, 31, -1;
        shfl.b32.idx.sync %a5, %t, 7, 31, -1;
        redux.add.sync.u32 %a6, %t, -1;
        redux.max.sync.s32 %a7, %t, -1;
        @%one st.global.u32 [%out], %a1;
        @%one st.global.u32 [%out+8], %a2;
        @%one st.global.u32 [%out+16], %a3;
        @%one st.global.u32 [%out+24], %a4;
        @%one st.global.u32 [%out+32], %a5;
        @%one st.global.u32 [%out+40], %a6;
        @%one st.global.u32 [%out+48], %a7;
        """);
    assertThat(results()).startsWith(15, 1, 0, 2, 7, 496, 31);
  }

  @Test
  void pairs_of_f32_and_sums_of_halves_are_rounded_as_f32() {
    run(
        1,
        "",
        """
        .reg .b64 %a, %b, %c<4>; .reg .f32 %f<6>; .reg .b16 %h, %k;
        mov.b64 %a, {0f3F800000, 0f40000000};
        mov.b64 %b, {0f33800000, 0f3F000000};
        add.rn.f32x2 %c1, %a, %b;
        add.rp.f32x2 %c2, %a, %b;
        fma.rn.f32x2 %c3, %a, %b, %a;
        st.global.u64 [%out], %c1;
        shr.u64 %c1, %c1, 32;
        st.global.u64 [%out+8], %c1;
        st.global.u64 [%out+16], %c2;
        shr.u64 %c3, %c3, 32;
        st.global.u64 [%out+24], %c3;
        mov.b16 %h, 0x3FC0;
        mov.b16 %k, 0x3E00;
        mov.f32 %f1, 0f40000001;
        add.rn.f32.bf16 %f2, %h, %f1;
        sub.rn.f32.f16 %f3, %k, %f1;
        fma.rn.f32.bf16 %f4, %h, %h, %f1;
        max.f32 %f5, %f1, %f2, %f3;
        st.global.f32 [%out+32], %f2;
        st.global.f32 [%out+40], %f3;
        st.global.f32 [%out+48], %f4;
        st.global.f32 [%out+56], %f5;
        """);
    assertThat(results())
        .containsExactly(
            Float.floatToRawIntBits(1),
            Float.floatToRawIntBits(2.5f),
            Float.floatToRawIntBits(Math.nextUp(1f)),
            Float.floatToRawIntBits(3),
            Float.floatToRawIntBits(1.5f + Math.nextUp(2f)),
            Float.floatToRawIntBits(1.5f - Math.nextUp(2f)),
            Float.floatToRawIntBits(Math.fma(1.5f, 1.5f, Math.nextUp(2f))),
            Float.floatToRawIntBits(1.5f + Math.nextUp(2f)));
  }

  @Test
  void accesses_of_256_bits_move_every_element_though_the_address_is_loaded_over() {
    for (int i = 0; i < 8; i++) {
      out.putLong(64 + 8L * i, 100 + i);
    }
    run(
        1,
        "",
        """
        .reg .b64 %a, %d<8>;
        add.u64 %a, %out, 64;
        ld.global.v4.b64 {%a, %d1, %d2, _}, [%a];
        st.global.v4.u64 [%out], {%d2, %d1, %a, 7};
        add.u64 %a, %out, 96;
        ld.v8.b32 {%d0, %d1, %d2, %d3, %a, %d5, %d6, %d7}, [%a];
        st.relaxed.sys.global.v8.b32 [%out+32], {%a, 0, %d2, 0, %d0, 0, %d6, 0};
        """);
    assertThat(results()).containsExactly(102, 101, 100, 7, 106, 105, 104, 107);
    assertThat(failure("ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [%out+16];"))
        .contains("misaligned load of 32 bytes");
  }

  /** The lower halves of the first eight results of 64 bits. */
  private int[] results() {
    return IntStream.range(0, 8).map(i -> (int) out.getLong(8L * i)).toArray();
  }

  private String failure(String body) {
    String text =
        ".visible .entry k(.param .u64 p) {\n.reg .u64 %out; .reg .b64 %d<9>; .reg .b32 %s<9>;\n"
            + "ld.param.u64 %out, [p];\n"
            + body
            + "\nret;\n}\n";
    return catchThrowable(
            () ->
                world
                    .runText(text, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out))
                    .check())
        .getMessage();
  }

  @Test
  void asynchronous_stores_and_reductions_arrive_at_the_mbarrier_of_the_own_block() {
    run(
        1,
        "",
        """
        .shared .align 16 .b8 %room[32]; .shared .align 8 .b64 %bar;
        .reg .b32 %s, %b, %v<4>; .reg .b64 %state; .reg .pred %p;
        mov.u32 %s, %room;
        mov.u32 %b, %bar;
        mbarrier.init.shared.b64 [%b], 1;
        mbarrier.arrive.expect_tx.shared.b64 %state, [%b], 20;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%s], {1, 2, 3, 4}, [%b];
        mbarrier.test_wait.shared.b64 %p, [%b], %state;
        selp.u32 %v1, 1, 0, %p;
        st.global.u32 [%out], %v1;
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s+8], 40, [%b];
        mbarrier.test_wait.shared.b64 %p, [%b], %state;
        selp.u32 %v1, 1, 0, %p;
        st.global.u32 [%out+8], %v1;
        ld.shared.u32 %v2, [%room+8];
        st.global.u32 [%out+16], %v2;
        st.async.mmio.release.sys.global.b64 [%out+24], 99;
        red.async.mmio.release.gpu.global.add.u64 [%out+24], 2;
        """);
    assertThat(results()).startsWith(0, 1, 43, 101);
  }

  @Test
  void functions_take_and_give_predicates_and_vectors() {
    out.putLong(0, 5L << 32 | 9);
    run(
        1,
        """
        .func (.reg .pred o) neg(.reg .pred i) { not.pred o, i; ret; }
        .func (.reg .v2 .u32 o) swap(.reg .v2 .u32 i) { mov.u32 o.x, i.y; mov.u32 o.y, i.x; ret; }
        """,
        """
        .reg .v2 .u32 v, w; .reg .pred %p, %q; .reg .u32 %r;
        ld.global.v2.u32 v, [%out];
        call (w), swap, (v);
        st.global.v2.u32 [%out], w;
        setp.eq.u32 %p, v.x, 9;
        call (%q), neg, (%p);
        selp.u32 %r, 1, 2, %q;
        st.global.u32 [%out+8], %r;
        call (%q), neg, (%q);
        selp.u32 %r, 1, 2, %q;
        st.global.u32 [%out+16], %r;
        """);
    assertThat(results()).startsWith(5, 2, 1);
    assertThat(out.getLong(0) >>> 32).isEqualTo(9);
  }

  @Test
  void only_the_thread_that_gets_to_a_tensor_copy_or_a_cluster_is_stopped() {
    String text =
        """
        .global .texref image;
        .visible .entry k(.param .u64 p) {
        .reg .u64 %out; .reg .pred %p; .reg .f32 %f<5>; .reg .b32 %x, %y;
        ld.param.u64 %out, [p];
        setp.eq.u64 %p, %out, 0;
        @%p tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f1, %f2}];
        @%p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%out, {%x, %y}], [%x];
        st.global.u64 [%out], 3;
        ret;
        }
        .visible .entry pair() .reqnctapercluster 2, 1, 1 { ret; }
        .visible .entry alone() .reqnctapercluster 1, 1, 1 .maxclusterrank 8 { ret; }
        """;
    world.runText(text, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
    assertThat(out.getLong(0)).isEqualTo(3);
    world.runText(text, "alone", LaunchConfig.of(1, 1), new KernelArguments()).check();
    assertThatThrownBy(
            () -> world.runText(text, "pair", LaunchConfig.of(1, 1), new KernelArguments()))
        .hasMessageContaining("clusters are not supported");
  }

  @Test
  void a_refused_instruction_leaves_what_follows_it_alone() {
    String text =
        World.ptx(
            """
            .visible .entry k() {
            .reg .f32 %f;
            add.u32 %f, %f, 1;
            .reg .u32 %r;
            frob.u32 %r, {%r, %r}, [%r, {%r}];
            mov.u32 %r, 1;
            add.u32 %f {%f, %f}, 1;
            .reg .u64 %d;
            mov.u64 %d, 1;
            ret;
            }
            """);
    assertThat(World.check("x.ptx", text)).extracting(Refusal::line).containsExactly(6, 8, 10);
  }

  /** a is 0x80fe7f85, b is 0x00ff0304, c is 1000: results by the manual's pseudocode. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "vabsdiff4.u32.u32.u32 d, a, b, c|-2147386239",
        "vabsdiff4.u32.s32.s32 d, a, b, c|-2147386241",
        "vabsdiff4.u32.u32.u32.add d, a, b, c|1382",
        "vabsdiff4.u32.s32.s32.add d, a, b, c|1380",
      })
  void differences_of_bytes_are_what_the_manual_says(String instruction, int expected) {
    int[] words =
        run(
            1,
            "",
            ".reg .b32 a, b, c, d;\n"
                + "mov.b32 a, 0x80fe7f85;\n"
                + "mov.b32 b, 0x00ff0304;\n"
                + "mov.b32 c, 1000;\n"
                + instruction
                + ";\nst.global.b32 [%out], d;");
    assertThat(words[0]).isEqualTo(expected);
  }

  @Test
  void an_external_variable_is_filled_by_the_host() {
    String text =
        World.ptx(
            """
            .extern .const .align 8 .b8 state[16];
            .extern .global .u32 flag;
            .visible .entry k(.param .u64 p) {
            .reg .u64 %out, %x; .reg .u32 %f;
            ld.param.u64 %out, [p];
            ld.const.u64 %x, [state+8];
            ld.global.u32 %f, [flag];
            st.global.u64 [%out], %x;
            st.global.u32 [%out+8], %f;
            ret;
            }
            """);
    var module = world.gpu.load("extern.ptx", text);
    module.global("state").putLong(8, 77);
    module.global("flag").putBytes(0, new byte[] {5, 0, 0, 0});
    world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
    assertThat(out.getLong(0)).isEqualTo(77);
    assertThat(out.getLong(8)).isEqualTo(5);
    assertThat(refusal(World.ptx(".extern .global .b8 all[];\n.entry k() { ret; }")))
        .contains("its size is not known here");
  }

  private static String refusal(String ptx) {
    List<Refusal> refusals = World.check("x.ptx", ptx);
    return refusals.isEmpty() ? "" : refusals.getFirst().reason();
  }

  @ParameterizedTest
  @ValueSource(strings = {"99.9", "1.9", "9", "0.1", "10.0", "a.b"})
  void an_unknown_version_is_refused(String version) {
    assertThat(refusal(".version " + version + "\n.target sm_75\n.address_size 64\n"))
        .contains("is not known");
  }

  /** Answers of ptxas of CUDA 13.0 to each. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ok|ld.global.f32 b64, [u64];",
        "ok|ld.global.f32 b32, [u64];",
        "NO|ld.global.f32 u32, [u64];",
        "ok|ld.global.b32 f32, [u64];",
        "ok|ld.global.b16 f32, [u64];",
        "ok|ld.global.b16 f64, [u64];",
        "ok|ld.global.b8 h, [u64];",
        "ok|ld.global.u8 u64, [u64];",
        "ok|ld.global.u16 b64, [u64];",
        "NO|ld.global.u32 f32, [u64];",
        "ok|ld.global.v2.u32 {u32, s32}, [u64];",
        "NO|ld.global.v2.u32 {u32, f32}, [u64];",
        "NO|st.global.f32 [u64], u32;",
        "ok|st.global.f32 [u64], b64;",
        "ok|st.global.b8 [u64], u64;",
        "ok|st.global.u8 [u64], b16;",
        "ok|st.global.b32 [u64], f32;",
        "NO|add.f16 h, u16, h;",
        "ok|add.f16 h, b16, h;",
        "ok|add.f16x2 hx, b32, hx;",
        "NO|add.f16x2 b32, u32, b32;",
        "ok|add.s32 b32, u32, s32;",
        "ok|add.f32 f32, b32, f32;",
        "NO|add.f32 f32, u32, f32;",
        "ok|and.b32 f32, b32, u32;",
        "ok|and.pred p, p, q;",
        "NO|and.pred p, p, u32;",
        "NO|setp.eq.u32 p, f32, u32;",
        "ok|setp.eq.f32 p, f32, b32;",
        "ok|setp.eq.b32 p, f32, b32;",
        "NO|setp.eq.u32 p, u64, 1;",
        "ok|selp.b32 f32, u32, s32, p;",
        "NO|selp.u32 f32, u32, s32, p;",
        "ok|selp.f32 f32, b32, f32, p;",
        "NO|selp.b32 f32, u32, s32, u32;",
        "ok|mov.b32 hx, f32;",
        "NO|mov.u32 b32, b64;",
        "NO|mov.u64 b64, b32;",
        "ok|mov.f32 b32, f32;",
        "NO|mov.f32 u32, f32;",
        "ok|mov.s32 u32, s32;",
        "ok|mov.b16 h, u16;",
        "NO|mov.u16 h, u16;",
        "NO|shl.b32 b32, b32, u64;",
        "NO|shl.b32 b32, b32, b16;",
        "ok|shl.b64 b64, b64, u32;",
        "NO|shl.b64 b64, b64, u64;",
        "NO|shr.u32 f32, b32, u32;",
        "NO|shr.s32 b32, u32, f32;",
        "ok|cvt.u64.u32 u64, b32;",
        "ok|cvt.u64.u32 b64, b64;",
        "ok|cvt.u32.u64 b64, b64;",
        "NO|cvt.u32.u64 u32, u32;",
        "ok|cvt.u8.u32 u32, u32;",
        "ok|cvt.u8.u32 b16, u32;",
        "ok|cvt.u32.u8 u32, b16;",
        "NO|cvt.rn.f32.u32 f32, f32;",
        "ok|cvt.rn.f32.u32 b32, u32;",
        "ok|cvt.rn.f32.u32 b64, u32;",
        "ok|cvt.rn.f16.f32 b16, f32;",
        "NO|cvt.rn.f16.f32 u16, f32;",
        "ok|cvt.rzi.u32.f32 u32, b32;",
        "ok|cvt.rzi.u32.f32 u64, f32;",
        "NO|cvt.rzi.u32.f32 f32, f32;",
        "NO|neg.s32 u32, f32;",
        "NO|mad.lo.s32 u32, u32, b32, u64;",
        "NO|min.u64 b64, u64, s32;",
        "ok|mul.wide.u32 u64, u32, u32;",
        "NO|mul.lo.u32 u64, u32, u32;",
        "ok|not.pred p, q;",
        "NO|div.rn.f32 f32, f32, u32;",
        "NO|fma.rn.f32 f32, f32, b32, u32;",
        "ok|abs.f64 f64, b64;",
        "NO|sub.f64 f64, u64, f64;",
      })
  void operand_types_are_checked_as_ptxas_checks_them(String verdict, String instruction) {
    String ptx =
        World.ptx(
            """
            .visible .entry k() {
            .reg .pred p, q; .reg .u16 u16; .reg .s16 s16; .reg .b16 b16; .reg .f16 h;
            .reg .b32 b32; .reg .u32 u32; .reg .s32 s32; .reg .f32 f32; .reg .f16x2 hx;
            .reg .b64 b64; .reg .u64 u64; .reg .f64 f64;
            """
                + instruction
                + "\nret;\n}\n");
    if (verdict.equals("ok")) {
      assertThat(refusal(ptx)).isEmpty();
    } else {
      assertThat(refusal(ptx)).contains("does not take");
    }
  }
}
