package dev.doorbell.core.fabric.explore.litmus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.BarrierKind;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Operand;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Proxy;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Quantifier;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.ThreadPlace;
import dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel;
import dev.doorbell.core.fabric.explore.litmus.parser.LitmusParser;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a litmus file may say, and what is said about one that cannot be understood. */
class LitmusParserTest {
  private static LitmusTest parse(String instruction) throws LitmusException {
    return LitmusParser.parse(
        "PTX one\n{}\nP0@cta 0,gpu 0;\n%s;\nexists (x == 0)".formatted(mentioningX(instruction)));
  }

  /** The claim is about x, which the test has to use. */
  private static String mentioningX(String instruction) {
    return "st.weak x, 0;\n" + instruction;
  }

  private static Instruction second(String instruction) throws LitmusException {
    return parse(instruction).threads().getFirst().code().get(1);
  }

  @Test
  void a_head_may_have_several_quoted_lines_and_keys_with_values() throws LitmusException {
    LitmusTest test =
        LitmusParser.parse(
            """
            PTX MP
            "first line"
            "second"
            Com=Rf Fr
            {}
            P0@cta 0,gpu 0; st.weak x, 1;
            exists (x == 1)
            """);
    assertThat(test.description()).isEqualTo("first line second");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "mov r0, 4 ; beq r0, 4, E ; r1 == 0",
        "mov r0, 4 ; bne r0, 4, E ; r1 == 7",
        "mov r0, -1 ; blt r0, 0, E ; r1 == 0",
        "mov r0, 4 ; goto E ; r1 == 0",
        "mov r0, 4 ; atom.relaxed.gpu.sub.u32 r2, x, r0 ; x == 5",
        "mov r0, 4 ; red.relaxed.gpu.sub.u32 x, 2 ; x == 7",
      })
  void words_of_public_suites_stand_for_what_they_do(String first, String second, String left)
      throws LitmusException {
    String claim = left.strip().startsWith("r") ? "P0:" + left.strip() : left;
    LitmusTest test =
        LitmusParser.parse(
            "PTX one {x = 9;}\nP0@cta 0,gpu 0;\n%s;\n%s;\nmov r1, 7;\nE: st.weak y, 1;\nforall (%s)"
                .formatted(first, second, claim));
    assertThat(AxiomaticModel.check(test, LitmusMachine.USUAL).holds()).isTrue();
  }

  @Test
  void a_file_has_a_name_a_state_columns_and_a_claim() throws LitmusException {
    LitmusTest test =
        LitmusParser.parse(
            """
            PTX MP
            "message passing" (* with a comment ; | in it *)
            { x = 3; P1:r2 = 0x10; }
             P0@cta 0,gpu 0 | P1@cta 4,gpu 1     ; // another
             st.weak x, 1   | L: ld.weak r0, [x] ;
                            | bra L              ;
            filter (P1:r0 != 2)
            ~exists (P1:r0 == 1 /\\ ~(x = 0 \\/ 0:r1 < 2))
            """);
    assertThat(test.name()).isEqualTo("MP");
    assertThat(test.description()).isEqualTo("message passing");
    assertThat(test.locations()).containsExactly("x");
    assertThat(test.initial()).containsExactly(3);
    assertThat(test.threads().get(1).place()).isEqualTo(new ThreadPlace(4, 1));
    assertThat(test.threads().get(1).registers()).containsEntry("r2", 16);
    assertThat(test.threads().get(0).code()).hasSize(1);
    assertThat(test.threads().get(1).code().get(1))
        .isInstanceOfSatisfying(
            Instruction.Branch.class,
            branch -> {
              assertThat(branch.target()).isZero();
              assertThat(branch.site().line()).isEqualTo(6);
            });
    assertThat(test.quantifier()).isEqualTo(Quantifier.NOT_EXISTS);
    assertThat(test.claim()).isEqualTo("~exists (P1:r0 == 1 /\\ ~(x = 0 \\/ 0:r1 < 2))");
    assertThat(test.condition().holds(name -> name.equals("P1:r0") ? 1 : 7)).isTrue();
    assertThat(test.condition().holds(name -> name.equals("P1:r0") ? 1 : 0)).isFalse();
    assertThat(test.filter().holds(name -> 2)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ld.weak r0, x               | weak",
        "ld.global.u32 r0, [x]       | weak",
        "ld.relaxed.cta.b32 r0, x    | relaxed.cta",
        "ld.acquire.cluster r0, x    | acquire.cluster",
        "ld.volatile.global r0, x    | volatile.sys",
        "ld.mmio.relaxed.sys.u32 r0, x | mmio.sys",
        "st.release.sys x, 1         | release.sys",
        "st.mmio.relaxed.sys x, r1   | mmio.sys",
        "fence.sc.gpu                | sc.gpu",
        "fence.cta                   | acq_rel.cta",
        "fence.acquire.sys           | acquire.sys",
        "membar.gl                   | sc.gpu",
        "membar.sys                  | sc.sys",
        "atom.add.u32 r0, x, 1       | relaxed.gpu",
        "atom.gpu.acq_rel.exch.b32 r0, x, 1 | acq_rel.gpu",
        "red.release.sys.max.s32 x, 1 | release.sys"
      })
  void semantics_and_scope_are_those_of_the_instruction(String text, String access)
      throws LitmusException {
    int found =
        switch (second(text)) {
          case Instruction.Load load -> load.access();
          case Instruction.Store store -> store.access();
          case Instruction.Fence fence -> fence.access();
          case Instruction.Atomic atomic -> atomic.access();
          default -> -1;
        };
    assertThat(Access.name(found)).isEqualTo(access);
  }

  @Test
  void a_compare_and_swap_has_its_operands_in_the_order_of_ptx() throws LitmusException {
    assertThat(second("@!p1 atom.acquire.sys.cas.b32 r0, [x], 4, r5"))
        .isInstanceOfSatisfying(
            Instruction.Atomic.class,
            cas -> {
              assertThat(cas.operation()).isEqualTo(Rmw.COMPARE_AND_SWAP);
              assertThat(cas.compare()).isEqualTo(new Operand.Constant(4));
              assertThat(cas.operand()).isEqualTo(new Operand.Register("r5"));
              assertThat(cas.site().guard()).isEqualTo(new Instruction.Guard("p1", true));
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bar.sync 3                      | SYNC     | 3  | ",
        "barrier.cta.sync.aligned 1, 2   | SYNC     | 1  | 2",
        "bar.arrive 15, 4                | ARRIVE   | 15 | 4",
        "bar.sync r1, r2                 | SYNC     | r1 | r2",
        "bar.cta.sync 7, 1, 2            | SYNC     | 1  | 2",
        "bar.red.popc.u32 r0, 2, p0      | RED_POPC | 2  | ",
        "bar.red.and.pred p1, 2, 3, p0   | RED_AND  | 2  | 3",
        "barrier.cta.red.or.pred p1, 0, p0 | RED_OR | 0  | "
      })
  void barriers_have_a_kind_an_id_and_a_count(
      String text, BarrierKind kind, String id, @Nullable String count) throws LitmusException {
    assertThat(second(text))
        .isInstanceOfSatisfying(
            Instruction.Barrier.class,
            barrier -> {
              assertThat(barrier.kind()).isEqualTo(kind);
              assertThat(barrier.id()).isEqualTo(barrierOperand(id));
              assertThat(barrier.count()).isEqualTo(count == null ? null : barrierOperand(count));
            });
  }

  private static Operand barrierOperand(String text) {
    return text.startsWith("r")
        ? new Operand.Register(text)
        : new Operand.Constant(Integer.parseInt(text));
  }

  @Test
  void names_of_other_proxies_and_addresses_are_declared() throws LitmusException {
    LitmusTest test =
        LitmusParser.parse(
            """
            PTX names
            "https://example.org/a//b { of the web"
            and a line that nobody quoted
            { x = 1; y @ generic aliases x; s @ surface aliases y; }
            P0@cta 0,gpu 0 ;
            st.weak x, 1 ; ld.weak r0, y ; suld.weak r1, s ; tld r2, y ; sust.weak s, 2 ;
            exists (y = 2)
            """);
    assertThat(test.locations()).containsExactly("x");
    assertThat(LitmusMachine.usesProxies(test)).isTrue();
    assertThat(test.description()).isEqualTo("https://example.org/a//b { of the web");
    assertThat(test.condition().holds(name -> name.equals("x") ? 2 : 0)).isTrue();
    List<Address> addresses =
        test.threads().getFirst().code().stream()
            .map(
                instruction ->
                    switch (instruction) {
                      case Instruction.Load load -> load.address();
                      case Instruction.Store store -> store.address();
                      default -> throw new AssertionError(instruction);
                    })
            .toList();
    assertThat(addresses).extracting(Address::location).containsOnly(0);
    assertThat(addresses)
        .extracting(Address::proxy)
        .containsExactly(Proxy.GENERIC, Proxy.GENERIC, Proxy.SURFACE, Proxy.TEXTURE, Proxy.SURFACE);
    int x = addresses.get(0).virtual();
    int y = addresses.get(1).virtual();
    assertThat(x).isNotEqualTo(y);
    assertThat(addresses).extracting(Address::virtual).containsExactly(x, y, y, y, y);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ld.release.gpu r0, x      | ld cannot be .release",
        "suld.acquire.gpu r0, x    | accesses by the surface proxy are weak",
        "fence.proxy.async         | does not say which proxy",
        "ld.relaxed r0, x          | ld.relaxed needs a scope",
        "st.weak.gpu x, 1          | has not a scope",
        "red.acquire.gpu.add.u32 x, 1 | red cannot be .acquire",
        "ld.mmio.relaxed.gpu r0, x | .sys alone",
        "ld.weak.u64 r0, x         | '.u64' means nothing",
        "fence.sc                  | the scope is missing",
        "bra AWAY                  | no label 'AWAY'",
        "bar.sync 16               | no number between 0 and 15",
        "bar.arrive 1              | has 1 operands",
        "st.weak r1, 1             | 'r1' is no location",
        "atom.gpu.nand.b32 r0, x, 1 | no operation",
        "frobnicate x              | 'frobnicate' is not known",
        "ld.weak r0                | 1 operands, not 2",
        "setp.u32 p0, r0, 1        | no comparison"
      })
  void an_instruction_that_cannot_be_understood_is_named_with_its_line(String text, String what) {
    LitmusException e = catchThrowableOfType(LitmusException.class, () -> parse(text));
    assertThat(e.what()).contains(what);
    assertThat(e.line()).isEqualTo(5);
    assertThat(e.fix()).isNotBlank();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "AArch64 x                                           | does not begin with PTX",
        "PTX x P0@cta 0,gpu 0; exists (x=0)                  | no initial state",
        "PTX x {} P1@cta 0,gpu 0; st.weak x, 1; \\nexists (x=0) | head of column 0",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;              | claims nothing",
        "PTX x {x=0; x @ surface aliases y} P0@cta 0,gpu 0; st.weak x, 1;\\n"
            + "exists (x=0) | declared twice",
        "PTX x {s @ surface aliases x} P0@cta 0,gpu 0; tld r0, s;\\n"
            + "exists (x=0) | a name of the surface proxy",
        "PTX x {x} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (x=0) | gives nothing a value",
        "PTX x {P3:r0=1} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (x=0) | no thread P3",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (y=0) | has no 'y'",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (P1:r0=0) | has no 'P1:r0'",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (x=0   | parenthesis is not closed",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (x)    | a comparison is missing",
        "PTX x {} P0@cta 0,gpu 0; st.weak x, 1;\\nexists (x=0) y | something follows",
        "PTX x {} P0@cta 0,gpu 0; A: st.weak x, 1; A: st.weak x, 2;\\nexists (x=0) | stands twice"
      })
  void a_file_that_cannot_be_understood_is_told_what_is_wrong(String text, String what) {
    LitmusException e =
        catchThrowableOfType(
            LitmusException.class, () -> LitmusParser.parse(text.replace("\\n", "\n")));
    assertThat(e.what()).contains(what);
    assertThat(e.fix()).isNotBlank();
  }
}
