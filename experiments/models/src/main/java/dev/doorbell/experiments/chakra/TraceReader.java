package dev.doorbell.experiments.chakra;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.chakra.ExecutionTrace.Node;
import dev.doorbell.experiments.chakra.ExecutionTrace.Operation;
import dev.doorbell.experiments.chakra.ExecutionTrace.Unit;
import dev.doorbell.experiments.chakra.RankFile.RawNode;
import dev.doorbell.experiments.collective.Collective;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Joins the files of a trace: the nodes of each rank, and what nodes of several ranks do. */
final class TraceReader {
  private static final Pattern FILE = Pattern.compile("(.+)\\.(\\d{1,4})\\.et");
  private static final int MOST_RANKS = 1024;

  /** Nodes and dependencies of all ranks, which are held in memory. */
  private static final long MOST_NODES = 8 << 20;

  /** Microseconds of the longest node: a day. */
  private static final long LONGEST = 86_400_000_000L;

  /** Blocks of a divided buffer are multiples of it. */
  private static final int LINE = 16;

  /** CollectiveCommType of et_def.proto; null for gather and scatter. */
  private static final @Nullable Collective[] COLLECTIVES = {
    Collective.ALL_REDUCE,
    Collective.REDUCE,
    Collective.ALL_GATHER,
    null,
    null,
    Collective.BROADCAST,
    Collective.ALL_TO_ALL,
    Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER,
    Collective.BARRIER
  };

  private final String name;
  private final List<Integer> all;
  private final List<Operation> operations = new ArrayList<>();
  private final List<Meeting> meetings = new ArrayList<>();
  private final Map<Key, List<Integer>> turns = new HashMap<>();
  private long left = MOST_NODES;

  // Of the rank that is read.
  private int rank;
  private Map<String, List<Integer>> groups = Map.of();
  private final Map<Key, Integer> counts = new HashMap<>();

  TraceReader(String name, int ranks) {
    this.name = name;
    this.all = IntStream.range(0, ranks).boxed().toList();
  }

  /** Operations of a group, or messages of a tag, meet in the order of the ranks' nodes. */
  private record Key(String name, List<Integer> members) {}

  /** The ranks that have come to an operation, and where it was found first. */
  private record Meeting(int rank, long node, Set<Integer> absent) {}

  static ExecutionTrace read(Path at) throws ConfigException {
    boolean isFolder = Files.isDirectory(at);
    Path folder = isFolder ? at : at.toAbsolutePath().resolveSibling(".");
    Set<Path> names = new TreeSet<>();
    int ranks = 0;
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Matcher file = FILE.matcher(each.getFileName().toString());
        if (file.matches() && (isFolder || at.endsWith(file.group(1)))) {
          names.add(folder.resolve(file.group(1)).normalize());
          ranks++;
        }
      }
      if (names.size() == 1 && ranks > 1 && ranks <= MOST_RANKS) {
        String name = names.iterator().next().toString();
        Path json = Path.of(name + ".json");
        return ExecutionTrace.read(
            name,
            ranks,
            Files.exists(json) ? Files.readString(json) : "{}",
            rank -> Files.newInputStream(Path.of(file(name, rank))));
      }
    } catch (IOException e) {
      throw problem(at.toString(), "give --trace PATH, without .RANK.et", "cannot be read: " + e);
    }
    throw problem(
        at.toString(),
        "name the files without .RANK.et, or a folder with one trace of 2 to 1024 ranks",
        "%d files NAME.RANK.et of %d traces".formatted(ranks, names.size()));
  }

  private static String file(String name, int rank) {
    return "%s.%d.et".formatted(name, rank);
  }

  private static ConfigException problem(String where, String fix, String what) {
    return new ConfigException(Problem.of(ExecutionTrace.CODE, where, what).fix(fix));
  }

  /** A problem of a node of the rank that is read. */
  private ConfigException problem(long node, String fix, String what) {
    String where = "%s, node %s".formatted(file(name, rank), Long.toUnsignedString(node));
    return problem(where, fix, what);
  }

  ExecutionTrace read(String json, ExecutionTrace.Files files) throws ConfigException {
    groups = groups(json);
    List<List<Node>> ranks = new ArrayList<>();
    for (int each : all) {
      rank = each;
      counts.clear();
      try (InputStream in = files.open(rank)) {
        List<RawNode> raw = RankFile.read(in, left);
        ranks.add(nodes(raw));
        left -= raw.size() + raw.stream().mapToLong(node -> node.after().length).sum();
      } catch (IOException e) {
        String fix = "every rank needs its whole file, by et_def.proto; convert the trace again";
        throw problem(file(name, rank), fix, "cannot be read: " + e.getMessage());
      }
    }
    for (Meeting each : meetings) {
      if (!each.absent.isEmpty()) {
        rank = each.rank;
        String fix =
            "all ranks of a group have its nodes; a send has a receive of its tag and size";
        throw problem(
            each.node, fix, "no such node of rank %d".formatted(each.absent.iterator().next()));
      }
    }
    return new ExecutionTrace(ranks, operations);
  }

  /** The ranks of each group by its name. */
  private Map<String, List<Integer>> groups(String json) throws ConfigException {
    Map<String, List<Integer>> found = new HashMap<>();
    String fix = "write lists of ranks by names: {\"1\": [0, 1]}";
    try {
      for (Map.Entry<String, JsonNode> group : JsonMapper.shared().readTree(json).properties()) {
        List<Integer> members = new ArrayList<>();
        group.getValue().forEach(member -> members.add(member.intValue(-1)));
        if (!all.containsAll(members) || new HashSet<>(members).size() < members.size()) {
          throw problem(
              name + ".json", fix, "ranks %s of %d".formatted(group.getValue(), all.size()));
        }
        found.put(group.getKey(), List.copyOf(members));
      }
      return found;
    } catch (JacksonException e) {
      throw problem(name + ".json", fix, e.getOriginalMessage());
    }
  }

  private List<Node> nodes(List<RawNode> raw) throws ConfigException {
    raw.sort((a, b) -> Long.compareUnsigned(a.id(), b.id()));
    Map<Long, Integer> index = new HashMap<>();
    for (RawNode each : raw) {
      if (index.put(each.id(), index.size()) != null) {
        throw problem(each.id(), "ids of a rank are different", "a second node has this id");
      }
    }
    List<Node> nodes = new ArrayList<>();
    for (RawNode each : raw) {
      nodes.add(node(each, index));
    }
    requireNoCycle(nodes);
    return nodes;
  }

  private Node node(RawNode of, Map<Long, Integer> index) throws ConfigException {
    int[] after = new int[of.after().length];
    for (int i = 0; i < after.length; i++) {
      Integer before = index.get(of.after()[i]);
      if (before == null) {
        throw problem(
            of.id(), "put it in", "the file lacks node %d before it".formatted(of.after()[i]));
      }
      after[i] = before;
    }
    long micros = of.micros();
    long ops = of.number("num_ops", 0);
    long bytes = of.number("tensor_size", 0);
    if (micros < 0 || micros > LONGEST || ops < 0 || bytes < 0) {
      String fix = "a node takes at most a day, and counts are not negative";
      throw problem(
          of.id(), fix, "duration %d, num_ops %d, tensor_size %d".formatted(micros, ops, bytes));
    }
    boolean cpu = of.number("is_cpu_op", 0) != 0;
    return switch (of.type()) {
      case 1 -> new Node(of.id(), Unit.NONE, 0, 0, 0, after, ExecutionTrace.ALONE);
      case 4 ->
          new Node(
              of.id(),
              cpu ? Unit.CPU : Unit.COMPUTE,
              micros,
              ops,
              bytes,
              after,
              ExecutionTrace.ALONE);
      case 5 -> with(of, after, Unit.COMMUNICATION, message(of, rank, of.number("comm_dst", -1)));
      case 6 -> with(of, after, Unit.NONE, message(of, of.number("comm_src", -1), rank));
      case 7 -> with(of, after, Unit.COMMUNICATION, collective(of));
      default ->
          throw problem(
              of.id(),
              "leave it out: metadata, computation, sends, receives and collectives are executed",
              "a node of type %d".formatted(of.type()));
    };
  }

  private static Node with(RawNode of, int[] after, Unit unit, int operation) {
    return new Node(of.id(), unit, 0, 0, 0, after, operation);
  }

  private int message(RawNode of, long source, long target) throws ConfigException {
    if (of.number("comm_src", source) != source
        || of.number("comm_dst", target) != target
        || source == target
        || Math.min(source, target) < 0
        || Math.max(source, target) >= all.size()) {
      String fix = "comm_src and comm_dst are different ranks of the trace, one of them this one";
      throw problem(of.id(), fix, "a message from rank %d to rank %d".formatted(source, target));
    }
    List<Integer> members = List.of((int) source, (int) target);
    return join(of, "tag " + of.number("comm_tag", 0), Collective.BROADCAST, members);
  }

  private int collective(RawNode of) throws ConfigException {
    boolean everybody = of.group().isEmpty() || of.group().equals("0");
    List<Integer> members = everybody ? all : groups.getOrDefault(of.group(), List.of());
    if (!members.contains(rank) || of.partial()) {
      String fix =
          "name the group by pg_name, not by involved_dim, and its ranks in %s.json"
              .formatted(name);
      throw problem(of.id(), fix, "no group '%s' with rank %d".formatted(of.group(), rank));
    }
    long type = of.number("comm_type", 0);
    Collective by = type < 0 || type >= COLLECTIVES.length ? null : COLLECTIVES[(int) type];
    if (by == null) {
      throw problem(
          of.id(),
          "leave it out; gather and scatter are not executed",
          "comm_type %d".formatted(type));
    }
    return members.size() == 1 ? ExecutionTrace.ALONE : join(of, of.group(), by, members);
  }

  /** Sizes are a rank's contribution, as ASTRA-sim takes them; what is divided has whole lines. */
  private int join(RawNode of, String key, Collective by, List<Integer> members)
      throws ConfigException {
    long own = by == Collective.BARRIER ? Integer.BYTES : of.number("comm_size", 0);
    long unit = by.divides() ? (long) LINE * members.size() : Integer.BYTES;
    int blocks = by == Collective.ALL_GATHER ? members.size() : 1;
    if (own < 1 || own > (Integer.MAX_VALUE - unit) / blocks) {
      throw problem(of.id(), "buffers have 1 byte to 2 GiB", "comm_size %d".formatted(own));
    }
    Operation operation = new Operation(by, members, Math.ceilDiv(own * blocks, unit) * unit);
    Key turn = new Key(key, members);
    List<Integer> made = turns.computeIfAbsent(turn, _ -> new ArrayList<>());
    int count = counts.merge(turn, 1, Integer::sum);
    if (count > made.size()) {
      made.add(operations.size());
      operations.add(operation);
      meetings.add(new Meeting(rank, of.id(), new TreeSet<>(members)));
    }
    int number = made.get(count - 1);
    Meeting first = meetings.get(number);
    if (!operations.get(number).equals(operation)) {
      String fix =
          "ranks have the nodes of a group in one order; this one is %s".formatted(operation);
      throw problem(
          of.id(),
          fix,
          "node %d of rank %d is %s".formatted(first.node, first.rank, operations.get(number)));
    }
    first.absent.remove(rank);
    return number;
  }

  private void requireNoCycle(List<Node> nodes) throws ConfigException {
    int[][] waiting = ExecutionTrace.waiting(nodes);
    int[] before = nodes.stream().mapToInt(node -> node.after().length).toArray();
    Deque<Integer> free = new ArrayDeque<>();
    IntStream.range(0, before.length).filter(i -> before[i] == 0).forEach(free::add);
    while (!free.isEmpty()) {
      for (int other : waiting[free.poll()]) {
        if (--before[other] == 0) {
          free.add(other);
        }
      }
    }
    for (int i = 0; i < before.length; i++) {
      if (before[i] > 0) {
        throw problem(nodes.get(i).id(), "dependencies form no circle", "it waits for itself");
      }
    }
  }
}
