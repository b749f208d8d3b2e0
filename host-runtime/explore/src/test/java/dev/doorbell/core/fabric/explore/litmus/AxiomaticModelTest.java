package dev.doorbell.core.fabric.explore.litmus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.litmus.LitmusMachine.MachineResult;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Axiom;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Outcome;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel;
import dev.doorbell.core.fabric.explore.litmus.parser.LitmusParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The axioms decide small programs. The corpus has many more. */
class AxiomaticModelTest {
  private static LitmusTest test(String text) throws LitmusException {
    return LitmusParser.parse("PTX test\n{}\n" + text);
  }

  private static LitmusResult check(String text) throws LitmusException {
    return AxiomaticModel.check(test(text), LitmusMachine.USUAL);
  }

  private static final String STORE_BUFFERING =
      """
       P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
       st.weak x, 1   | st.weak y, 1   ;
       fence.sc.gpu   | fence.sc.gpu   ;
       ld.weak r0, y  | ld.weak r0, x  ;
      """;

  @Test
  void outcomes_are_counted_and_those_forbidden_name_their_axiom() throws LitmusException {
    LitmusResult result = check(STORE_BUFFERING + "~exists (P0:r0 == 0 /\\ P1:r0 == 0)");
    List<String> names = List.of("P0:r0", "P1:r0");
    assertThat(result.holds()).isTrue();
    assertThat(result.allowed())
        .containsOnlyKeys(
            new Outcome(names, List.of(0, 1)),
            new Outcome(names, List.of(1, 0)),
            new Outcome(names, List.of(1, 1)))
        .containsEntry(new Outcome(names, List.of(1, 1)), 2L); // either fence may be first
    assertThat(result.forbidden()).containsOnlyKeys(new Outcome(names, List.of(0, 0)));
    assertThat(result.forbidden().get(new Outcome(names, List.of(0, 0))))
        .containsExactly(Axiom.CAUSALITY);
    assertThat(result.executions()).isEqualTo(4);
    assertThat(result.conclusive()).isTrue();
  }

  @Test
  void a_claim_that_does_not_hold_is_refuted() throws LitmusException {
    assertThat(check(STORE_BUFFERING + "exists (P0:r0 == 0 /\\ P1:r0 == 0)").holds()).isFalse();
    assertThat(check(STORE_BUFFERING + "~exists (P0:r0 == 1)").holds()).isFalse();
    assertThat(check(STORE_BUFFERING + "forall (P0:r0 == 1)").holds()).isFalse();
  }

  @Test
  void a_filter_leaves_executions_out() throws LitmusException {
    LitmusResult result = check(STORE_BUFFERING + "filter (P0:r0 == 0)\nforall (P1:r0 == 1)");
    assertThat(result.holds()).isTrue();
    assertThat(result.allowed()).hasSize(1);
  }

  @Test
  void outcomes_are_forbidden_by_the_axiom_that_speaks_of_them() throws LitmusException {
    assertThat(axioms("st.weak x, 1;\nst.weak x, 2", "exists (x == 1)"))
        .containsExactly(Axiom.COHERENCE);
    assertThat(
            axioms(
                """
                P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
                st.weak x, 1 | ld.acquire.gpu r0, y ;
                st.release.gpu y, 1 | ld.weak r1, x ;
                """,
                "exists (P1:r0 == 1 /\\ P1:r1 == 0)"))
        .containsExactly(Axiom.CAUSALITY);
    assertThat(
            axioms(
                """
                P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
                ld.weak r0, x | ld.weak r0, y | ld.weak r0, w ;
                st.weak y, r0 | st.weak x, r0 | setp.eq.u32 p0, r0, 1 ;
                st.weak w, 1  |               | @p0 st.weak x, 1 ;
                """,
                "exists (P0:r0 == 1 /\\ P2:r0 == 0)"))
        .containsExactly(Axiom.NO_THIN_AIR);
    assertThat(
            axioms(
                """
                P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
                atom.gpu.add.u32 r0, x, 1 | atom.gpu.add.u32 r0, x, 1 ;
                """,
                "exists (P0:r0 == 0 /\\ P1:r0 == 0)"))
        .contains(Axiom.ATOMICITY);
    assertThat(
            axioms(
                """
                P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
                st.relaxed.gpu x, 1 | st.relaxed.gpu x, 2 | ld.relaxed.gpu r0, x ;
                | | ld.relaxed.gpu r1, x ;
                | | ld.relaxed.gpu r2, x ;
                """,
                "exists (P2:r0 == 1 /\\ P2:r1 == 2 /\\ P2:r2 == 1)"))
        .contains(Axiom.SC_PER_LOCATION);
  }

  @Test
  void the_order_of_fences_follows_causality() throws LitmusException {
    // If P1 has seen the release, its fence comes second: one order of the fences is left of two.
    LitmusResult result =
        check(
            """
            P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
            fence.sc.gpu | ld.acquire.gpu r0, x ;
            st.release.gpu x, 1 | fence.sc.gpu ;
            exists (P1:r0 == 1)\
            """);
    List<String> names = List.of("P1:r0");
    assertThat(result.allowed())
        .containsEntry(new Outcome(names, List.of(0)), 2L)
        .containsEntry(new Outcome(names, List.of(1)), 1L);
  }

  /** Which axioms forbid the outcomes that the claim asks for. */
  private static List<Axiom> axioms(String code, String claim) throws LitmusException {
    String columns = code.contains("@cta") ? code : "P0@cta 0,gpu 0;\n" + code + ";\n";
    LitmusResult result = check(columns + claim);
    return result.forbidden().entrySet().stream()
        .filter(entry -> result.test().condition().holds(entry.getKey()::value))
        .flatMap(entry -> entry.getValue().stream())
        .distinct()
        .toList();
  }

  @Test
  void threads_that_wait_for_ever_are_told_and_end_no_execution() throws LitmusException {
    LitmusResult result =
        check(
            """
            P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
            bar.sync 1 | ld.weak r0, x ;
            exists (P1:r0 == 0)\
            """);
    assertThat(result.holds()).isFalse();
    assertThat(result.allowed()).isEmpty();
    assertThat(result.deadlocks()).containsOnlyKeys("P0 line 4 (bar.sync 1)");
  }

  private static final String SPIN =
      """
       P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
       st.relaxed.gpu x, 1  | L:                   ;
       st.relaxed.gpu x, %d  | ld.relaxed.gpu r0, x ;
                            | bne r0, %d, L         ;
       exists (P1:r0 == %d)\
      """;

  @Test
  void a_loop_that_waits_for_the_last_value_ends() throws LitmusException {
    assertThat(check(SPIN.formatted(2, 2, 2)).spinning()).isEmpty();
  }

  @Test
  void a_loop_that_waits_for_a_value_that_may_be_missed_may_spin_for_ever() throws LitmusException {
    LitmusResult result = check(SPIN.formatted(2, 1, 1));
    assertThat(result.holds()).isTrue();
    assertThat(result.spinning()).containsOnlyKeys("P1 line 5 (ld.relaxed.gpu r0, x)");
  }

  @Test
  void a_weak_load_in_a_loop_may_be_made_once_for_all_rounds() throws LitmusException {
    LitmusResult result = check(SPIN.formatted(2, 2, 2).replace("ld.relaxed.gpu", "ld.weak"));
    assertThat(result.spinning()).containsOnlyKeys("P1 line 5 (ld.weak r0, x)");
  }

  @Test
  void two_names_of_a_location_are_ordered_by_a_fence_between_them() throws LitmusException {
    String text =
        """
        PTX alias
        { x = 0; y @ generic aliases x; }
        P0@cta 0,gpu 0 ; st.weak x, 1 ; %s ld.weak r0, y ;
        ~exists (P0:r0 == 0)
        """;
    assertThat(holds(text.formatted(""))).isFalse();
    assertThat(holds(text.formatted("fence.proxy.alias ;"))).isTrue();
    assertThat(holds(text.formatted("fence.sc.sys ;"))).isFalse();
    assertThat(holds(text.formatted("fence.proxy.surface ;"))).isFalse();
  }

  @Test
  void a_fence_of_a_proxy_counts_in_the_cta_of_the_access() throws LitmusException {
    String text =
        """
        PTX surface
        { x = 0; s @ surface aliases x; }
        P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
        sust.weak s, 1      | ld.acquire.gpu r0, f ;
        %s                  | %s                   ;
        st.release.gpu f, 1 | ld.weak r1, x        ;
        ~exists (P1:r0 == 1 /\\ P1:r1 == 0)
        """;
    assertThat(holds(text.formatted("", ""))).isFalse();
    assertThat(holds(text.formatted("fence.proxy.surface", ""))).isTrue();
    assertThat(holds(text.formatted("", "fence.proxy.surface"))).isFalse();
    assertThat(holds(text.formatted("fence.proxy.texture", ""))).isFalse();
  }

  private static boolean holds(String file) throws LitmusException {
    return AxiomaticModel.check(LitmusParser.parse(file), LitmusMachine.USUAL).holds();
  }

  @Test
  void races_are_pairs_that_neither_order_nor_strength_protects() throws LitmusException {
    LitmusResult weak =
        check(" P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.weak r0, x ;\nexists (x=1)");
    assertThat(weak.races())
        .containsExactly("P0 line 4 (st.weak x, 1) and P1 line 4 (ld.weak r0, x)");
    LitmusResult strong =
        check(
            """
            P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
            st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x ;
            exists (x=1)\
            """);
    assertThat(strong.races()).isEmpty();
  }

  @Test
  void a_loop_is_followed_as_often_as_asked_and_the_cut_is_told() throws LitmusException {
    LitmusTest loop =
        test(
            """
            P0@cta 0,gpu 0 ;
            add.u32 r0, r0, 1 ;
            L: add.u32 r0, r0, 1 ;
            setp.lt.u32 p0, r0, 5 ;
            @p0 bra L ;
            st.weak x, r0 ;
            exists (x == 5)\
            """);
    LitmusResult short_ = AxiomaticModel.check(loop, new Bounds(2, 100));
    assertThat(short_.cut()).isTrue();
    assertThat(short_.allowed()).isEmpty();
    LitmusResult whole = AxiomaticModel.check(loop, new Bounds(3, 100));
    assertThat(whole.cut()).isFalse();
    assertThat(whole.holds()).isTrue();
  }

  @Test
  void a_search_that_stops_early_says_so_unless_it_has_found_what_it_looked_for()
      throws LitmusException {
    LitmusTest open = test(STORE_BUFFERING + "~exists (P0:r0 == 0 /\\ P1:r0 == 0)");
    LitmusResult early = AxiomaticModel.check(open, new Bounds(2, 1));
    assertThat(early.complete()).isFalse();
    assertThat(early.conclusive()).isFalse();
    LitmusTest found = test(STORE_BUFFERING + "~exists (P0:r0 == 0 /\\ P1:r0 == 1)");
    LitmusResult refuted = AxiomaticModel.check(found, new Bounds(2, 2));
    assertThat(refuted.complete()).isFalse();
    assertThat(refuted.holds()).isFalse();
    assertThat(refuted.conclusive()).isTrue();
  }

  @Test
  void values_that_loads_may_return_grow_until_none_is_new() throws LitmusException {
    LitmusResult result =
        check(
            """
            P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
            atom.gpu.add.u32 r0, x, 3 | atom.gpu.add.u32 r0, x, 3 | red.gpu.add.u32 x, 3 ;
            forall (x == 9)\
            """);
    assertThat(result.holds()).isTrue();
    assertThat(result.executions()).isEqualTo(6);
  }

  @Test
  void the_machine_shows_the_same_where_nothing_needs_a_value_from_the_future()
      throws LitmusException {
    LitmusTest test = test(STORE_BUFFERING + "~exists (P0:r0 == 0 /\\ P1:r0 == 0)");
    MachineResult machine = LitmusMachine.run(test, LitmusMachine.USUAL);
    LitmusResult axioms = AxiomaticModel.check(test, LitmusMachine.USUAL);
    assertThat(machine.complete()).isTrue();
    assertThat(machine.shown().keySet()).isEqualTo(axioms.allowed().keySet());
    assertThat(machine.conflicts()).isTrue();
  }

  @Test
  void a_value_that_only_traces_which_are_cut_write_is_read_all_the_same() throws LitmusException {
    LitmusTest spin =
        test(
            """
             P0@cta 0,gpu 0 ;
             LC: atom.exch r1, x, 1 ;
             beq r1, 0, LC ;
            ~exists (P0:r1 == 1)\
            """);
    LitmusResult result = AxiomaticModel.check(spin, LitmusMachine.USUAL);
    assertThat(result.candidates()).isPositive();
    assertThat(result.holds()).isFalse();
    assertThat(LitmusMachine.run(spin, LitmusMachine.USUAL).wrong(result)).isEmpty();
  }

  @Test
  void without_a_candidate_there_is_no_verdict_where_a_loop_was_left_out() throws LitmusException {
    LitmusTest counter =
        test(
            """
             P0@cta 0,gpu 0 ;
             LC: add r1, r1, 1 ;
             blt r1, 9, LC ;
            ~exists (P0:r1 == 9)\
            """);
    LitmusResult result = AxiomaticModel.check(counter, new Bounds(2, 100));
    assertThat(result.candidates()).isZero();
    assertThat(result.conclusive()).isFalse();
    assertThat(AxiomaticModel.check(counter, new Bounds(9, 100)).conclusive()).isTrue();
  }

  @Test
  void a_search_whose_time_has_passed_stops_in_the_middle_of_a_candidate() throws LitmusException {
    StringBuilder threads = new StringBuilder();
    StringBuilder stores = new StringBuilder();
    for (int i = 0; i < 12; i++) {
      threads.append("P%d@cta %d,gpu 0 %s".formatted(i, i, i == 11 ? ";" : "| "));
      stores.append("st.relaxed.gpu x, %d %s".formatted(i, i == 11 ? ";" : "| "));
    }
    LitmusTest orders = test(threads + "\n" + stores + "\nexists (x == 5)");
    LitmusResult result = AxiomaticModel.check(orders, new Bounds(2, 100, System.nanoTime()));
    assertThat(result.complete()).isFalse();
    assertThat(result.conclusive()).isFalse();
  }

  /** Eighteen instructions, of whose values alone there are more than anybody looks at. */
  @Test
  void neither_opinion_goes_on_when_the_time_of_a_large_test_has_passed() throws LitmusException {
    LitmusTest large =
        test(
            """
            P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;
            atom.exch r0, y, 4 | atom.add r0, y, 1 | L: atom.add r0, x, 1 ;
            st.release.gpu x, 1 | ld.relaxed.gpu r1, z | st.relaxed.gpu z, 4 ;
            atom.add r1, z, 1 | atom.exch r2, z, 3 | ld.relaxed.gpu r1, z ;
            ld.acquire.gpu r2, x | st.relaxed.gpu z, r2 | atom.add r2, y, r1 ;
            ld.relaxed.gpu r3, y | ld.relaxed.gpu r3, y | setp.eq.u32 p0, r0, 0 ;
            st.relaxed.gpu z, r3 | ld.relaxed.gpu r4, x | @p0 bra L ;
            ~exists (P0:r0 == 7)\
            """);
    Bounds passed = new Bounds(2, 20_000, System.nanoTime());
    LitmusResult axioms = AxiomaticModel.check(large, passed);
    assertThat(axioms.candidates()).as("counted, not timed").isLessThan(256);
    assertThat(axioms.complete()).isFalse();
    assertThat(axioms.conclusive()).isFalse();
    MachineResult machine = LitmusMachine.run(large, passed);
    assertThat(machine.runs()).isLessThan(2);
    assertThat(machine.complete()).isFalse();
    assertThat(LitmusMachine.run(large, new Bounds(2, 50)).runs()).isEqualTo(50);
  }
}
