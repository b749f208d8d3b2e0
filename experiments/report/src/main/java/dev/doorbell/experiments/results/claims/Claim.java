package dev.doorbell.experiments.results.claims;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * One claim, as a ledger states it.
 *
 * @param id unique in its ledger
 * @param statement one sentence
 * @param corrects what is often said instead; empty where nothing is
 * @param method how it is tested
 * @param expression what is evaluated, see {@link Expression}; empty for claims that are not
 * @param lower the least value with which it is reproduced
 * @param upper the greatest one
 * @param experiment that is run; null unless {@link Method#RUN}
 * @param set overrides of the experiment's settings
 * @param bug case that is explored; null unless {@link Method#CASE}
 * @param basis what the numbers are: exact, modelled, measured
 * @param source who says so
 * @param needs what would decide it; empty where it can be decided
 * @param known why the model is known not to reproduce it; empty where it is not
 */
public record Claim(
    String id,
    String statement,
    String corrects,
    Method method,
    String expression,
    double lower,
    double upper,
    @Nullable String experiment,
    SequencedMap<String, String> set,
    @Nullable String bug,
    String basis,
    String source,
    String needs,
    String known) {

  public enum Method {
    /** Arithmetic over published or measured numbers: says that they fit together, no more. */
    ARITHMETIC,
    /** Closed forms of the path model. */
    MODEL,
    /** An experiment, run for the claim. */
    RUN,
    /** A bug and its fixed version, explored under an adversary. */
    CASE,
    /** A document that settles it; it is cited, not tested. */
    SPECIFICATION,
    /** Nothing here can decide it. */
    OPEN;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Claim {
    set = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(set));
  }

  boolean holds(double value) {
    return lower <= value && value <= upper;
  }
}
