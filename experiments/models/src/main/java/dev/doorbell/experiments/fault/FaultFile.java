package dev.doorbell.experiments.fault;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.experiments.config.FaultGrammar;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.SourcePositions.ProblemPosition;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Reads fault plans: files, and what configs contain or name. The schema has judged keys, words and
 * numbers; what an action makes of them is judged here.
 */
public final class FaultFile implements FaultGrammar {
  private static final DocumentKind KIND = new DocumentKind("fault plan", "a mapping", 'F');
  private static final SchemaChecker CHECKER = new SchemaChecker(Schema.load("faults"));
  private static final long STANDARD_SEED = 1;

  /** The service provider of configs. */
  public FaultFile() {}

  /**
   * Reads a fault plan.
   *
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static FaultPlan load(Path file) throws ConfigException {
    return parse(file.toString(), KIND.text(file));
  }

  /**
   * Reads the text of a fault plan.
   *
   * @param file name for problems
   * @throws ConfigException with everything that is wrong, in the order of the text
   */
  public static FaultPlan parse(String file, String text) throws ConfigException {
    return new FaultFile().read(file, text, STANDARD_SEED);
  }

  @Override
  public FaultPlan read(String file, String text, long seed) throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, KIND.name());
    ConfigException.throwIfAny(CHECKER.check(document.root(), document.positions()));
    return plan(document.root(), document.positions(), seed);
  }

  @Override
  public FaultPlan plan(JsonNode plan, SourcePositions positions, long seed)
      throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    List<Fault> faults = new ArrayList<>();
    for (JsonNode fault : plan.path("faults")) {
      String pointer = "/faults/" + faults.size();
      faults.add(new FaultReader(fault, pointer, positions, problems).fault());
    }
    problems.sort(Comparator.comparing(ProblemPosition::of));
    ConfigException.throwIfAny(problems);
    return new FaultPlan(plan.path("seed").asLong(seed), faults);
  }

  /** Turns a valid entry of a plan into a {@link Fault}. */
  private record FaultReader(
      JsonNode keys, String pointer, SourcePositions positions, List<Problem> problems) {
    private static final Pattern AT =
        Pattern.compile("([a-z]+)\\s+(\\d{1,18})(?:\\s*-\\s*(\\d{1,18}))?");
    private static final Pattern DURATION = Pattern.compile("([\\d.]+)\\s*(ns|us|µs|ms|s)");
    private static final Pattern TARGET =
        Pattern.compile("(?:rank(\\d{1,6}))?(?:\\.?hca(\\d{1,4}))?(?:\\.?qp(\\d{1,6}))?");
    private static final Map<String, Double> UNITS =
        Map.of("ns", 1.0, "us", 1e3, "µs", 1e3, "ms", 1e6, "s", 1e9);
    private static final long LONGEST_NANOS = 3_600_000_000_000L;
    private static final Map<String, Integer> PACKET_OPCODES =
        names(BthOpcode::name, BthOpcode::headers);
    private static final Map<String, Integer> WQE_OPCODES = names(Opcode::name, _ -> 0);

    Fault fault() {
      FaultAction action =
          Stream.of(FaultAction.values())
              .filter(each -> each.word().equals(text("do")))
              .findFirst()
              .orElseThrow();
      Matcher at = AT.matcher(text("at"));
      FaultEvent event = side(at.matches() ? event(action, at.group(1)) : standard(action));
      return new Fault(
          text(),
          action,
          event,
          target(),
          trigger(action, at),
          opcode(event),
          nanos(action),
          number(action),
          keys.path("must_fire").asBoolean(false));
    }

    private FaultTrigger trigger(FaultAction action, Matcher at) {
      long first = at.matches() ? Long.parseLong(at.group(2)) : 0;
      String end = at.matches() ? Objects.requireNonNullElse(at.group(3), at.group(2)) : "";
      long last = end.isEmpty() ? Long.MAX_VALUE : Long.parseLong(end);
      if (last < first) {
        problem("at", "DB-F006", "%d-%d goes backwards".formatted(first, last));
        last = first;
      }
      // A link goes down once, other faults occur without limit.
      boolean selective = keys.has("at") || keys.has("chance") || keys.has("every");
      long often = action == FaultAction.LINK_DOWN && !selective ? 1 : Long.MAX_VALUE;
      return new FaultTrigger(
          first,
          last,
          keys.path("every").asLong(1),
          chance(),
          duration("after"),
          keys.path("times").asLong(often));
    }

    private static FaultEvent standard(FaultAction action) {
      return action.events().contains(FaultEvent.PACKET_SENT)
          ? action == FaultAction.QP_ERROR ? FaultEvent.WQE : FaultEvent.PACKET_SENT
          : action.events().iterator().next();
    }

    private FaultEvent event(FaultAction action, String word) {
      List<FaultEvent> legal = action.events().stream().sorted(Comparator.naturalOrder()).toList();
      for (FaultEvent event : legal) {
        if ((word.equals("packet") && event.isPacket()) || event.word().equals(word)) {
          return event;
        }
      }
      problem(
          "at",
          "DB-F006",
          "'%s' happens at a %s, not at a '%s'"
              .formatted(
                  action.word(),
                  legal.stream()
                      .map(event -> event.isPacket() ? "packet" : event.word())
                      .distinct()
                      .collect(Collectors.joining(" or a ")),
                  word));
      return standard(action);
    }

    private FaultEvent side(FaultEvent event) {
      if (keys.has("side") && !event.isPacket()) {
        problem("side", "DB-F006", "'side' is for packets only");
        return event;
      }
      return switch (text("side")) {
        case "sent" -> FaultEvent.PACKET_SENT;
        case "received" -> FaultEvent.PACKET_RECEIVED;
        default -> event;
      };
    }

    private double chance() {
      String text = text("chance").strip();
      boolean percent = text.endsWith("%");
      double value =
          text.isEmpty()
              ? 1
              : percent
                  ? Double.parseDouble(text.substring(0, text.length() - 1)) / 100
                  : Double.parseDouble(text);
      if (value > 1) {
        problem("chance", "DB-F006", "a probability is at most 1, or 100%");
        return 1;
      }
      return value;
    }

    private FaultTarget target() {
      Matcher target = TARGET.matcher(text("target"));
      return target.matches() && keys.has("target")
          ? new FaultTarget(index(target, 1), index(target, 2), index(target, 3))
          : FaultTarget.ALL;
    }

    private static int index(Matcher matcher, int group) {
      String digits = matcher.group(group);
      return digits == null ? -1 : Integer.parseInt(digits);
    }

    private int opcode(FaultEvent event) {
      if (!keys.has("opcode")) {
        return -1;
      }
      if (!event.isPacket() && event != FaultEvent.WQE) {
        problem("opcode", "DB-F006", "'opcode' is for packets and WQEs only");
        return -1;
      }
      Map<String, Integer> names = event.isPacket() ? PACKET_OPCODES : WQE_OPCODES;
      Integer opcode = names.get(text("opcode"));
      if (opcode == null) {
        String near = Nearest.suggestion(text("opcode"), names.keySet());
        problem(
            "opcode",
            "DB-F003",
            "unknown opcode '%s'%s"
                .formatted(
                    text("opcode"),
                    near.isEmpty() ? "; known: " + String.join(", ", names.keySet()) : near));
      }
      return opcode == null ? -1 : opcode;
    }

    private static Map<String, Integer> names(
        IntFunction<String> name, IntFunction<Integer> known) {
      Map<String, Integer> names = new LinkedHashMap<>();
      for (int opcode = 0; opcode < 256; opcode++) {
        String text = name.apply(opcode);
        if (known.apply(opcode) >= 0 && !text.startsWith("0x")) {
          // A name without a transport is that of a reliable connection.
          names.put(text.startsWith("RC ") ? text.substring(3) : text, opcode);
        }
      }
      return names;
    }

    /** Returns the number that an action requires besides a time, and refuses those of others. */
    private int number(FaultAction action) {
      String own =
          switch (action) {
            case REORDER -> "by";
            case CQE_ERROR -> "syndrome";
            case RECEIVER_NOT_READY -> "timer";
            case MTU_MISMATCH -> "mtu";
            default -> "";
          };
      for (String key : List.of("by", "syndrome", "timer", "mtu")) {
        if (!key.equals(own) && keys.has(key)) {
          problem(key, "DB-F006", "'%s' has no '%s'".formatted(action.word(), key));
        }
      }
      if (!keys.has(own) && (own.equals("syndrome") || own.equals("mtu"))) {
        problem("", "DB-F005", "'%s' needs '%s'".formatted(action.word(), own));
      }
      return keys.path(own).asInt(own.equals("by") ? 1 : own.equals("timer") ? 12 : 0);
    }

    private long nanos(FaultAction action) {
      return switch (action) {
        case RELAXED_ORDERING, DOORBELL_LOST -> duration("for");
        case DELAY, DOORBELL_LATE, CQE_LATE, LINK_DOWN -> {
          if (!keys.has("for")) {
            problem("", "DB-F005", "'%s' needs 'for', as in 'for: 2ms'".formatted(action.word()));
          }
          yield duration("for");
        }
        default -> {
          if (keys.has("for")) {
            problem("for", "DB-F006", "'%s' takes no time".formatted(action.word()));
          }
          yield 0;
        }
      };
    }

    private long duration(String key) {
      Matcher duration = DURATION.matcher(text(key));
      if (!duration.matches()) {
        return 0;
      }
      double nanos =
          Double.parseDouble(duration.group(1))
              * Objects.requireNonNull(UNITS.get(duration.group(2)));
      if (nanos > LONGEST_NANOS) {
        problem(key, "DB-F006", "'%s' is more than an hour".formatted(key));
        return 0;
      }
      return Math.round(nanos);
    }

    /** Returns the value of a key; empty where it is absent. */
    private String text(String key) {
      return keys.path(key).asString("");
    }

    /** Returns the entry in one line, for reports. */
    private String text() {
      return keys.properties().stream()
          .map(entry -> entry.getKey() + ": " + entry.getValue().asString())
          .collect(Collectors.joining(", "));
    }

    private void problem(String key, String code, String what) {
      String at = key.isEmpty() ? pointer : SourcePositions.child(pointer, key);
      problems.add(Problem.of(code, positions.ofValue(at), what));
    }
  }
}
