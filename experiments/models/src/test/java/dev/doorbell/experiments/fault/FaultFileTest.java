package dev.doorbell.experiments.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.BthOpcode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FaultFileTest {
  private static FaultPlan read(String text) throws ConfigException {
    return FaultFile.parse("plan.yaml", text);
  }

  private static Fault one(String fault) throws ConfigException {
    return read("faults: [ { " + fault + " } ]").faults().getFirst();
  }

  private static List<String> problems(String text) {
    ConfigException e = catchThrowableOfType(ConfigException.class, () -> read(text));
    return e.problems().stream().map(Problem::text).toList();
  }

  @Test
  void a_plan_keeps_its_seed_its_order_and_its_words() throws ConfigException {
    FaultPlan plan =
        read(
            """
            seed: 7
            faults:
              - { do: lose, chance: 1% }
              - { do: cqe-error, at: wqe 900, target: rank5.hca0.qp2, syndrome: 0x15, must_fire: true }
            """);
    assertThat(plan.seed()).isEqualTo(7);
    assertThat(plan.faults()).hasSize(2);
    Fault lose = plan.faults().get(0);
    assertThat(lose.action()).isEqualTo(FaultAction.LOSE);
    assertThat(lose.event()).isEqualTo(FaultEvent.PACKET_SENT);
    assertThat(lose.trigger().chance()).isEqualTo(0.01);
    assertThat(lose.text()).isEqualTo("do: lose, chance: 1%");
    Fault error = plan.faults().get(1);
    assertThat(error.event()).isEqualTo(FaultEvent.WQE);
    assertThat(error.trigger().first()).isEqualTo(900);
    assertThat(error.trigger().last()).isEqualTo(900);
    assertThat(error.target()).isEqualTo(new FaultTarget(5, 0, 2));
    assertThat(error.number()).isEqualTo(0x15);
    assertThat(error.mustFire()).isTrue();
  }

  @Test
  void packets_are_chosen_by_range_side_and_opcode() throws ConfigException {
    Fault fault =
        one("do: corrupt, at: packet 10-20, every: 2, side: received, opcode: WRITE_MIDDLE");
    assertThat(fault.event()).isEqualTo(FaultEvent.PACKET_RECEIVED);
    assertThat(fault.opcode()).isEqualTo(BthOpcode.WRITE_MIDDLE);
    assertThat(fault.trigger()).isEqualTo(new FaultTrigger(10, 20, 2, 1, 0, Long.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource({"250ns,250", "1.5us,1500", "2ms,2000000", "3 s,3000000000"})
  void durations_have_a_unit(String text, long nanos) throws ConfigException {
    assertThat(one("do: delay, chance: 0.5, for: " + text).nanos()).isEqualTo(nanos);
    assertThat(one("do: lose, after: " + text).trigger().afterNanos()).isEqualTo(nanos);
  }

  @Test
  void a_link_goes_down_once_unless_the_plan_says_when() throws ConfigException {
    assertThat(one("do: link-down, after: 3ms, for: 2ms").trigger().times()).isOne();
    assertThat(one("do: link-down, chance: 1%, for: 2ms").trigger().times())
        .isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @EnumSource(FaultAction.class)
  void every_fault_can_be_written(FaultAction action) throws ConfigException {
    String needs =
        switch (action) {
          case DELAY, DOORBELL_LATE, CQE_LATE, LINK_DOWN -> ", for: 1ms";
          case CQE_ERROR -> ", syndrome: 0x12";
          case MTU_MISMATCH -> ", mtu: 1024";
          default -> "";
        };
    Fault fault = one("do: " + action.word() + needs);
    assertThat(fault.action()).isEqualTo(action);
    assertThat(action.events()).contains(fault.event());
  }

  @Test
  void all_that_is_wrong_is_said_at_once_with_its_place() {
    assertThat(
            problems(
                """
                sead: 1
                faults:
                  - { do: loose }
                  - { do: delay, chance: 2 }
                  - { do: lose, target: gpu3 }
                  - { do: lose, target: rank3. }
                  - { at: wqe 3 }
                """))
        .satisfiesExactly(
            p -> assertThat(p).contains("plan.yaml:1:1", "unknown key 'sead'", "'seed'"),
            p -> assertThat(p).contains("plan.yaml:3:11", "unknown do 'loose'", "'lose'"),
            p -> assertThat(p).contains("plan.yaml:4:26", "at most 1"),
            p -> assertThat(p).contains("plan.yaml:5:25", "must be a target such as"),
            p -> assertThat(p).contains("plan.yaml:6:25", "must be a target such as"),
            p -> assertThat(p).contains("plan.yaml:7:5", "key 'do' is missing"));
  }

  @Test
  void what_an_action_does_not_take_or_lacks_is_said_at_once_with_its_place() {
    assertThat(
            problems(
                """
                faults:
                  - { do: delay, chance: 101% }
                  - { do: cqe-error, at: doorbell 3, syndrome: 0x15 }
                  - { do: lose, opcode: WRITE_MIDLE, by: 2 }
                  - { do: cqe-error, at: wqe 7-6, side: sent }
                  - { do: corrupt, for: 1ms }
                  - { do: link-down, for: 3601s }
                """))
        .satisfiesExactly(
            p -> assertThat(p).contains("plan.yaml:2:5", "'delay' needs 'for'"),
            p -> assertThat(p).contains("plan.yaml:2:26", "at most 1"),
            p -> assertThat(p).contains("plan.yaml:3:26", "happens at a wqe, not at a 'doorbell'"),
            p -> assertThat(p).contains("plan.yaml:4:25", "WRITE_MIDLE", "'WRITE_MIDDLE'"),
            p -> assertThat(p).contains("plan.yaml:4:42", "'lose' has no 'by'"),
            p -> assertThat(p).contains("plan.yaml:5:5", "'cqe-error' needs 'syndrome'"),
            p -> assertThat(p).contains("plan.yaml:5:26", "7-6 goes backwards"),
            p -> assertThat(p).contains("plan.yaml:5:41", "'side' is for packets only"),
            p -> assertThat(p).contains("plan.yaml:6:25", "'corrupt' takes no time"),
            p -> assertThat(p).contains("plan.yaml:7:27", "more than an hour"));
  }

  @Test
  void bounds_of_triggers_are_taken() throws ConfigException {
    assertThat(one("do: lose, at: packet 7-7").trigger().last()).isEqualTo(7);
    assertThat(one("do: lose, chance: 100%").trigger().chance()).isOne();
    assertThat(one("do: link-down, for: 3600s").nanos()).isEqualTo(3_600_000_000_000L);
  }

  @Test
  void what_is_no_plan_is_refused() {
    assertThat(problems("")).singleElement().asString().contains("the file is empty");
    assertThat(problems("- 1"))
        .anySatisfy(p -> assertThat(p).contains("a fault plan is a mapping"));
    assertThat(problems("faults: 3")).singleElement().asString().contains("must be a list");
    assertThat(problems("faults: [")).singleElement().asString().contains("not YAML");
    ConfigException missing =
        catchThrowableOfType(
            ConfigException.class, () -> FaultFile.load(Path.of("no", "such", "plan.yaml")));
    assertThat(missing.problems().getFirst().text()).contains("there is no such file");
  }
}
