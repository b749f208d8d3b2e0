package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.explore.model.Policy;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Ordering bugs of GPU-initiated communication that were reported in public, and one of Doorbell's
 * own recovery protocol. Some are bugs on certain adapters only. Each is a broken and a fixed
 * kernel in {@code kernels/cases/NAME.cu}.
 */
public enum BugCase {
  SHARED_QUEUE_PAIR,
  READY_INDEX,
  TWO_FENCES,
  PER_THREAD_WQE,
  DOORBELL_LOCK,
  NO_FENCE,
  TWO_QUEUE_PAIRS,
  FIFO_TAIL,
  WRITE_COMBINED_RING,
  WRONG_COUNTER,
  ERASED_FLAG,
  STALE_CREDIT,
  SAFE_POINT,
  ADAPTIVE_FLAG,
  LAST_WORD,
  REWRITTEN_COUNTER,
  RELAXED_FLAG,
  REFUSED_ATOMIC,
  TWO_RAILS,
  WEAK_SIGNAL,
  FLUSH_ELSEWHERE,
  SRD_FLAG,
  COUNTED_COMPLETIONS,
  COUNTER_WRAP,
  LONG_BATCH,
  DOORBELL_ORDER,
  ERROR_PROGRESS,
  BATCH_TAIL;

  private static final int RING = 64;

  private static final String CASES = "cases.json";

  /** Descriptions by the name on the command line. */
  private static final Map<String, Description> DESCRIPTIONS = read();

  /**
   * Describes a case, and how it is launched on both ranks.
   *
   * @param iterations of each poster
   * @param bytes of a message
   * @param nic the adapter that shows it; null for those that keep InfiniBand's order
   */
  private record Description(
      String summary,
      String symptom,
      String fix,
      String sources,
      int blocks,
      int threads,
      int iterations,
      int bytes,
      int queuePairs,
      @Nullable String nic) {}

  private static Map<String, Description> read() {
    try (InputStream in = BugCase.class.getResourceAsStream(CASES)) {
      return JsonMapper.shared()
          .readValue(Objects.requireNonNull(in, CASES), new TypeReference<>() {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Description description() {
    return Objects.requireNonNull(DESCRIPTIONS.get(word()), name());
  }

  /** Returns the name on the command line. */
  public String word() {
    return kernel().replace('_', '-');
  }

  /** Returns the name of the file, and of its kernels before {@code _broken} and {@code _fixed}. */
  public String kernel() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the mistake. */
  public String summary() {
    return description().summary();
  }

  /** Returns what users observed. */
  public String symptom() {
    return description().symptom();
  }

  /** Returns the fix. */
  public String fix() {
    return description().fix();
  }

  /** Returns the public reports that the case is modelled on, or the document of the protocol. */
  public String sources() {
    return description().sources();
  }

  /** Returns the name of the adapter that shows it. */
  public String nic() {
    String nic = description().nic();
    return nic == null ? Adapter.DEFAULT.name() : nic;
  }

  /** Returns true if HCAs that keep InfiniBand's order hide it. */
  public boolean hides() {
    return !nic().equals(Adapter.DEFAULT.name());
  }

  /** Returns the case of that name; {@code -} and {@code _} are equivalent. */
  public static Optional<BugCase> of(String word) {
    return Arrays.stream(values())
        .filter(c -> c.kernel().equals(word.toLowerCase(Locale.ROOT).replace('-', '_')))
        .findFirst();
  }

  /** Returns the names of all cases. */
  public static List<String> words() {
    return Arrays.stream(values()).map(BugCase::word).toList();
  }

  /**
   * Returns the scenario to explore. Its rules are strict, so that a fixed case is right on every
   * machine.
   *
   * @param program one of its two kernels
   */
  public Scenario scenario(Scenario.Program program) {
    Description shape = description();
    return new Scenario(
        program,
        new Scenario.Load(
            shape.blocks(),
            shape.threads(),
            shape.iterations(),
            shape.bytes(),
            shape.queuePairs(),
            RING,
            0,
            "thread",
            "pull"),
        new Scenario.Posting("gpu", "gpu", false, false, false, 1),
        new Scenario.Rules(Policy.STRICT, false),
        Nic.of(Adapters.named(nic())));
  }
}
