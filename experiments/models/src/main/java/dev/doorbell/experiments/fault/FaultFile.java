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
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.experiments.config.FaultGrammar;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.config.document.DocumentKind.NodeProblems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads fault plans: files, and what configs contain or name. */
public final class FaultFile implements FaultGrammar {
  /** Files that hold a fault plan. */
  static final DocumentKind KIND =
      new DocumentKind("fault plan", "a mapping with a list 'faults'", 'F');

  private static final long STANDARD_SEED = 1;

  /** The service provider of configs. */
  public FaultFile() {}

  @Override
  public FaultPlan read(String file, String text, long seed) throws ConfigException {
    return new FaultReader(file, seed).plan(KIND.node(file, text));
  }

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
  public FaultPlan inline(String file, String text, long seed) throws ConfigException {
    if (KIND.node(file, text) instanceof MappingNode mapping) {
      for (NodeTuple tuple : mapping.getValue()) {
        if (tuple.getKeyNode() instanceof ScalarNode key && key.getValue().equals("faults")) {
          return new FaultReader(file, seed).inline(tuple.getValueNode());
        }
      }
    }
    return new FaultPlan(seed, List.of());
  }

  /** Turns the YAML tree of a fault plan into a {@link FaultPlan}, or into a list of problems. */
  private static final class FaultReader {
    private static final List<String> PLAN_KEYS = List.of("seed", "faults");
    private static final List<String> FAULT_KEYS =
        List.of(
            "do",
            "at",
            "every",
            "chance",
            "after",
            "times",
            "target",
            "opcode",
            "side",
            "for",
            "by",
            "syndrome",
            "timer",
            "mtu",
            "must_fire");
    private static final Pattern AT =
        Pattern.compile("([a-z]+)\\s+(\\d{1,18})(?:\\s*-\\s*(\\d{1,18}))?");
    private static final Pattern DURATION =
        Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(ns|us|µs|ms|s)");
    private static final Pattern CHANCE =
        Pattern.compile("(\\d+(?:\\.\\d+)?(?:[eE]-\\d+)?)\\s*(%?)");
    private static final Pattern TARGET =
        Pattern.compile("(?:rank(\\d{1,6}))?(?:\\.?hca(\\d{1,4}))?(?:\\.?qp(\\d{1,6}))?");
    private static final List<Integer> MTUS = List.of(256, 512, 1024, 2048, 4096);
    private static final int MOST_PASSED = 1024;
    private static final long LONGEST_NANOS = 3_600_000_000_000L;

    private final long seed;
    private final NodeProblems problems;

    FaultReader(String file, long seed) {
      this.seed = seed;
      this.problems = new NodeProblems(file, FaultFile.KIND);
    }

    FaultPlan plan(Node root) throws ConfigException {
      Map<String, Node> plan = mapping(root, "a fault plan", PLAN_KEYS);
      return plan(whole(plan, "seed", 0, Long.MAX_VALUE, seed), root, plan.get("faults"));
    }

    /** Reads the value of a key of another file: a plan, or a list of faults alone. */
    FaultPlan inline(Node value) throws ConfigException {
      return value instanceof SequenceNode ? plan(seed, value, value) : plan(value);
    }

    private FaultPlan plan(long planSeed, Node root, @Nullable Node list) throws ConfigException {
      List<Fault> faults = new ArrayList<>();
      if (list instanceof SequenceNode sequence) {
        for (Node element : sequence.getValue()) {
          Fault fault = fault(element);
          if (fault != null) {
            faults.add(fault);
          }
        }
      } else {
        problem(list == null ? root : list, "DB-F004", "'faults' must be a list of faults");
      }
      if (problems.count() > 0) {
        throw new ConfigException(problems.inOrder());
      }
      return new FaultPlan(planSeed, faults);
    }

    private @Nullable Fault fault(Node node) {
      int before = problems.count();
      Map<String, Node> keys = mapping(node, "a fault", FAULT_KEYS);
      FaultAction action = action(node, keys);
      if (action == null) {
        return null;
      }
      FaultTrigger trigger = FaultTrigger.always();
      FaultEvent event = standard(action);
      Matcher at =
          match(keys, "at", AT, "an event and its number, as in 'packet 17' or 'wqe 10-20'");
      if (at != null) {
        FaultEvent named = event(keys, action, at.group(1));
        event = named == null ? event : named;
        long first = Long.parseLong(at.group(2));
        long last = at.group(3) == null ? first : Long.parseLong(at.group(3));
        if (last < first) {
          problem(node(keys, "at"), "DB-F006", "%d-%d goes backwards".formatted(first, last));
          last = first;
        }
        trigger = new FaultTrigger(first, last, 1, 1, 0, Long.MAX_VALUE);
      }
      event = side(keys, event);
      trigger =
          new FaultTrigger(
              trigger.first(),
              trigger.last(),
              whole(keys, "every", 1, Long.MAX_VALUE, 1),
              chance(keys),
              duration(keys, "after", 0),
              whole(keys, "times", 1, Long.MAX_VALUE, unlimited(action, keys)));
      int number = number(node, keys, action);
      long nanos = nanos(node, keys, action);
      FaultTarget target = target(keys);
      int opcode = opcode(keys, event);
      boolean mustFire = flag(keys, "must_fire");
      return problems.count() > before
          ? null
          : new Fault(text(keys), action, event, target, trigger, opcode, nanos, number, mustFire);
    }

    /** Default of {@code times}: a link goes down once, other faults occur without limit. */
    private static long unlimited(FaultAction action, Map<String, Node> keys) {
      boolean selective =
          keys.containsKey("at") || keys.containsKey("chance") || keys.containsKey("every");
      return action == FaultAction.LINK_DOWN && !selective ? 1 : Long.MAX_VALUE;
    }

    private static FaultEvent standard(FaultAction action) {
      return action.events().contains(FaultEvent.PACKET_SENT)
          ? action == FaultAction.QP_ERROR ? FaultEvent.WQE : FaultEvent.PACKET_SENT
          : action.events().iterator().next();
    }

    private @Nullable FaultAction action(Node fault, Map<String, Node> keys) {
      String word = scalar(keys, "do");
      if (word == null) {
        if (fault instanceof MappingNode) {
          problem(fault, "DB-F005", "a fault lacks 'do'");
        }
        return null;
      }
      for (FaultAction action : FaultAction.values()) {
        if (action.word().equals(word)) {
          return action;
        }
      }
      unknown(
          keys,
          "do",
          "fault",
          word,
          Stream.of(FaultAction.values()).map(FaultAction::word).toList());
      return null;
    }

    private @Nullable FaultEvent event(Map<String, Node> keys, FaultAction action, String word) {
      List<FaultEvent> legal = action.events().stream().sorted(Comparator.naturalOrder()).toList();
      for (FaultEvent event : legal) {
        if ((word.equals("packet") && event.isPacket()) || event.word().equals(word)) {
          return event;
        }
      }
      problem(
          node(keys, "at"),
          "DB-F006",
          "'%s' happens at a %s, not at a '%s'"
              .formatted(
                  action.word(),
                  legal.stream()
                      .map(event -> event.isPacket() ? "packet" : event.word())
                      .distinct()
                      .collect(Collectors.joining(" or a ")),
                  word));
      return null;
    }

    private FaultEvent side(Map<String, Node> keys, FaultEvent event) {
      String side = scalar(keys, "side");
      if (side == null) {
        return event;
      }
      if (!event.isPacket()) {
        problem(node(keys, "side"), "DB-F006", "'side' is for packets only");
        return event;
      }
      return switch (side) {
        case "sent" -> FaultEvent.PACKET_SENT;
        case "received" -> FaultEvent.PACKET_RECEIVED;
        default -> {
          unknown(keys, "side", "side", side, List.of("sent", "received"));
          yield event;
        }
      };
    }

    private double chance(Map<String, Node> keys) {
      Matcher chance = match(keys, "chance", CHANCE, "a probability, as in '1%' or '0.01'");
      if (chance == null) {
        return 1;
      }
      double value = Double.parseDouble(chance.group(1)) / (chance.group(2).isEmpty() ? 1 : 100);
      if (value > 1) {
        problem(node(keys, "chance"), "DB-F006", "a probability is at most 1, or 100%");
        return 1;
      }
      return value;
    }

    private FaultTarget target(Map<String, Node> keys) {
      Matcher target =
          match(keys, "target", TARGET, "a target, as in 'rank3', 'rank3.hca0', 'rank3.hca0.qp2'");
      return target == null
          ? FaultTarget.ALL
          : new FaultTarget(index(target, 1), index(target, 2), index(target, 3));
    }

    private static int index(Matcher matcher, int group) {
      String digits = matcher.group(group);
      return digits == null ? -1 : Integer.parseInt(digits);
    }

    private int opcode(Map<String, Node> keys, FaultEvent event) {
      String word = scalar(keys, "opcode");
      if (word == null) {
        return -1;
      }
      if (!event.isPacket() && event != FaultEvent.WQE) {
        problem(node(keys, "opcode"), "DB-F006", "'opcode' is for packets and WQEs only");
        return -1;
      }
      Map<String, Integer> names = event.isPacket() ? PACKET_OPCODES : WQE_OPCODES;
      Integer opcode = names.get(word);
      if (opcode != null) {
        return opcode;
      }
      unknown(keys, "opcode", "opcode", word, names.keySet());
      return -1;
    }

    private static final Map<String, Integer> PACKET_OPCODES =
        names(BthOpcode::name, BthOpcode::headers);
    private static final Map<String, Integer> WQE_OPCODES = names(Opcode::name, opcode -> 0);

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

    /** Returns the number that an action requires besides a time. */
    private int number(Node fault, Map<String, Node> keys, FaultAction action) {
      return switch (action) {
        case REORDER -> {
          only(keys, action, "by");
          yield (int) whole(keys, "by", 1, MOST_PASSED, 1);
        }
        case CQE_ERROR -> {
          only(keys, action, "syndrome");
          yield (int) needed(fault, keys, "syndrome", 1, 255);
        }
        case RECEIVER_NOT_READY -> {
          only(keys, action, "timer");
          yield (int) whole(keys, "timer", 0, 31, 12);
        }
        case MTU_MISMATCH -> {
          only(keys, action, "mtu");
          int mtu = (int) needed(fault, keys, "mtu", 1, 4096);
          if (keys.containsKey("mtu") && !MTUS.contains(mtu)) {
            problem(node(keys, "mtu"), "DB-F006", "'mtu' must be one of " + MTUS);
          }
          yield mtu;
        }
        default -> {
          only(keys, action, "");
          yield 0;
        }
      };
    }

    private long nanos(Node fault, Map<String, Node> keys, FaultAction action) {
      boolean lasts =
          switch (action) {
            case DELAY, DOORBELL_LATE, CQE_LATE, LINK_DOWN -> true;
            default -> false;
          };
      if (action == FaultAction.RELAXED_ORDERING || action == FaultAction.DOORBELL_LOST) {
        return duration(keys, "for", 0);
      }
      if (lasts && !keys.containsKey("for")) {
        problem(fault, "DB-F005", "'%s' needs 'for', as in 'for: 2ms'".formatted(action.word()));
      } else if (!lasts && keys.containsKey("for")) {
        problem(node(keys, "for"), "DB-F006", "'%s' takes no time".formatted(action.word()));
      }
      return lasts ? duration(keys, "for", 0) : 0;
    }

    /** Refuses the numbers of other actions. */
    private void only(Map<String, Node> keys, FaultAction action, String own) {
      for (String key : List.of("by", "syndrome", "timer", "mtu")) {
        if (!key.equals(own) && keys.containsKey(key)) {
          problem(node(keys, key), "DB-F006", "'%s' has no '%s'".formatted(action.word(), key));
        }
      }
    }

    private long duration(Map<String, Node> keys, String key, long absent) {
      Matcher duration = match(keys, key, DURATION, "a duration, as in '2ms' or '500us'");
      if (duration == null) {
        return absent;
      }
      double unit =
          switch (duration.group(2)) {
            case "ns" -> 1;
            case "us", "µs" -> 1e3;
            case "ms" -> 1e6;
            default -> 1e9;
          };
      double nanos = Double.parseDouble(duration.group(1)) * unit;
      if (nanos > LONGEST_NANOS) {
        problem(node(keys, key), "DB-F006", "'%s' is more than an hour".formatted(key));
        return absent;
      }
      return Math.round(nanos);
    }

    private long needed(Node fault, Map<String, Node> keys, String key, long least, long most) {
      if (!keys.containsKey(key)) {
        problem(fault, "DB-F005", "'%s' needs '%s'".formatted(scalar(keys, "do"), key));
      }
      return whole(keys, key, least, most, least);
    }

    private long whole(Map<String, Node> keys, String key, long least, long most, long absent) {
      String text = scalar(keys, key);
      if (text == null) {
        return absent;
      }
      try {
        long value = Long.decode(text);
        if (value >= least && value <= most) {
          return value;
        }
        problem(
            node(keys, key),
            "DB-F006",
            most == Long.MAX_VALUE
                ? "'%s' is %d; it must be at least %d".formatted(key, value, least)
                : "'%s' is %d; it must be from %d to %d".formatted(key, value, least, most));
      } catch (NumberFormatException e) {
        problem(
            node(keys, key),
            "DB-F006",
            "'%s' must be a whole number, not '%s'".formatted(key, text));
      }
      return absent;
    }

    private boolean flag(Map<String, Node> keys, String key) {
      String text = scalar(keys, key);
      if (text != null && !text.equals("true") && !text.equals("false")) {
        problem(node(keys, key), "DB-F006", "'%s' must be true or false".formatted(key));
      }
      return "true".equals(text);
    }

    private @Nullable Matcher match(
        Map<String, Node> keys, String key, Pattern pattern, String wanted) {
      String text = scalar(keys, key);
      if (text == null) {
        return null;
      }
      Matcher matcher = pattern.matcher(text);
      if (!text.isEmpty() && matcher.matches()) {
        return matcher;
      }
      problem(node(keys, key), "DB-F006", "'%s' is %s, not '%s'".formatted(key, wanted, text));
      return null;
    }

    private @Nullable String scalar(Map<String, Node> keys, String key) {
      Node node = keys.get(key);
      if (node instanceof ScalarNode scalar) {
        return scalar.getValue();
      }
      if (node != null) {
        problem(node, "DB-F004", "'%s' must be a single value".formatted(key));
      }
      return null;
    }

    private static Node node(Map<String, Node> keys, String key) {
      Node node = keys.get(key);
      if (node == null) {
        throw new IllegalStateException("no key " + key);
      }
      return node;
    }

    private Map<String, Node> mapping(Node node, String title, List<String> known) {
      Map<String, Node> keys = new LinkedHashMap<>();
      problems
          .entries(node, title)
          .forEach(
              (key, tuple) -> {
                keys.put(key, tuple.getValueNode());
                if (!known.contains(key)) {
                  problem(
                      tuple.getKeyNode(),
                      "DB-F003",
                      "unknown key '%s' in %s%s"
                          .formatted(key, title, Nearest.suggestion(key, known)));
                }
              });
      return keys;
    }

    private static String text(Map<String, Node> keys) {
      return keys.entrySet().stream()
          .map(entry -> entry.getKey() + ": " + ((ScalarNode) entry.getValue()).getValue())
          .collect(Collectors.joining(", "));
    }

    private void unknown(
        Map<String, Node> keys, String key, String kind, String word, Collection<String> legal) {
      String near = Nearest.suggestion(word, legal);
      problem(
          node(keys, key),
          "DB-F003",
          "unknown %s '%s'%s"
              .formatted(
                  kind, word, near.isEmpty() ? "; known: " + String.join(", ", legal) : near));
    }

    private void problem(Node at, String code, String what) {
      problems.problem(at, code, what);
    }
  }
}
