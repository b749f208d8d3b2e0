package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Ways to break a kernel's memory order, found in its PTX by what stands around them. */
enum Mutation {
  NONE(line -> line, Where.NOWHERE),
  FENCE_BEFORE_DOORBELL_REMOVED(Mutation::withoutFence, Where.BEFORE_DOORBELL),
  FENCE_BEFORE_DOORBELL_NARROWED_TO_GPU(
      line -> line.replace("acq_rel.sys", "acq_rel.gpu"), Where.BEFORE_DOORBELL),
  FENCE_BEFORE_DOORBELL_NARROWED_TO_CTA(
      line -> line.replace("acq_rel.gpu", "acq_rel.cta"), Where.BEFORE_DOORBELL),
  FENCE_BEFORE_RECORD_REMOVED(Mutation::withoutFence, Where.BEFORE_RECORD),
  FENCE_BEFORE_RECORD_NARROWED_TO_GPU(
      line -> line.replace("acq_rel.sys", "acq_rel.gpu"), Where.BEFORE_RECORD);

  private enum Where {
    NOWHERE,
    /** Fences between the record's store and the doorbell's. */
    BEFORE_DOORBELL,
    /** Fences that lead to the record's store. */
    BEFORE_RECORD
  }

  private static final Pattern POST = Pattern.compile("post\\.cuh:(\\d+)");

  @SuppressWarnings("ImmutableEnumChecker") // the lambdas capture nothing
  private final UnaryOperator<String> change;

  private final Where where;

  Mutation(UnaryOperator<String> change, Where where) {
    this.change = change;
    this.where = where;
  }

  private static String withoutFence(String line) {
    return line.replaceFirst("fence\\.acq_rel\\.\\w+;", "");
  }

  /** The scenario with the mutation at every place where it applies. */
  Scenario of(Scenario scenario) throws ScenarioException {
    Scenario.Program program = scenario.program();
    String[] lines = program.ptx().split("\n", -1);
    for (int at : places(scenario)) {
      lines[at] = change.apply(lines[at]);
    }
    return scenario.with(
        new Scenario.Program(program.file(), program.entry(), String.join("\n", lines)));
  }

  /**
   * Indices of lines. Which fence is which is told by a run: posting executes one before the record
   * and one before the doorbell, in that order of the library's source. Each may be inlined at
   * several places.
   */
  private List<Integer> places(Scenario scenario) throws ScenarioException {
    if (where == Where.NOWHERE) {
      return List.of();
    }
    List<Instruction> fences = executedFences(scenario);
    List<Integer> lines =
        fences.stream().map(Mutation::line).filter(line -> line > 0).distinct().sorted().toList();
    if (lines.size() < 2) {
      throw new AssertionError("two fences of post.cuh were expected, not " + fences);
    }
    int line = lines.get(where == Where.BEFORE_RECORD ? 0 : 1);
    return fences.stream()
        .filter(fence -> line(fence) == line)
        .map(fence -> fence.line() - 1)
        .toList();
  }

  /** The fences of the scenario's kernel that a run of it executes. */
  static List<Instruction> executedFences(Scenario scenario) throws ScenarioException {
    Outcome outcome = Scenarios.LABORATORY.run(scenario, 1, Laboratory.Extent.of(Scenarios.PLENTY));
    Scenario.Program program = scenario.program();
    return PtxParser.parse(program.file(), program.ptx()).module().functions().values().stream()
        .flatMap(function -> function.code().stream())
        .filter(each -> each.name().equals("fence") || each.name().equals("membar"))
        .filter(each -> outcome.coverage().wasExecuted(each.line()))
        .toList();
  }

  /** The innermost line of post.cuh that a fence belongs to, or 0. */
  private static int line(Instruction fence) {
    Matcher matcher = POST.matcher(fence.source().toString());
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
  }
}
