package dev.doorbell.core.fabric.explore.litmus.parser;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.explore.litmus.Instruction;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Arithmetic;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Barrier;
import dev.doorbell.core.fabric.explore.litmus.Instruction.BarrierKind;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Guard;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Operand;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Proxy;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Site;
import dev.doorbell.core.fabric.explore.litmus.LitmusException;
import dev.doorbell.core.fabric.explore.litmus.parser.ConditionParser.Numbers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads one PTX instruction. Modifiers may stand in any order, as in PTX that compilers emit. */
final class InstructionParser {
  private static final Pattern SHAPE =
      Pattern.compile("(?:@(!?)([\\w%]+)\\s+)?([a-z][\\w.:]*)\\s*(.*)", Pattern.DOTALL);
  private static final int MOST_THREADS = 64;
  private static final Set<String> WORDS = Set.of("u32", "s32", "b32");
  private static final Set<String> SPACES = Set.of("global", "shared");
  private static final Map<String, Integer> SEMANTICS =
      Map.of(
          "weak", Access.WEAK,
          "relaxed", Access.RELAXED,
          "volatile", Access.VOLATILE,
          "acquire", Access.ACQUIRE,
          "release", Access.RELEASE,
          "acq_rel", Access.ACQ_REL,
          "sc", Access.SC,
          "mmio", Access.MMIO);
  private static final Map<String, Integer> SCOPES =
      Map.of(
          "cta", Access.CTA,
          "cluster", Access.CLUSTER,
          "gpu", Access.GPU,
          "gl", Access.GPU,
          "sys", Access.SYS);
  private static final Map<String, Rmw> OPERATIONS =
      Map.of(
          "add", Rmw.ADD,
          "exch", Rmw.EXCHANGE,
          "cas", Rmw.COMPARE_AND_SWAP,
          "and", Rmw.AND,
          "or", Rmw.OR,
          "xor", Rmw.XOR,
          "min", Rmw.MIN_UNSIGNED,
          "max", Rmw.MAX_UNSIGNED,
          "inc", Rmw.INCREMENT_WRAP,
          "dec", Rmw.DECREMENT_WRAP);

  private final Function<String, Address> addresses;
  private final Map<String, Integer> labels;

  // the instruction in hand
  private Site site = new Site(0, "", null);
  private Set<String> modifiers = Set.of();
  private List<String> operands = List.of();

  /**
   * @param addresses gives what a name stands for
   * @param labels of this thread
   */
  InstructionParser(Function<String, Address> addresses, Map<String, Integer> labels) {
    this.addresses = addresses;
    this.labels = labels;
  }

  Instruction parse(int line, String text) throws LitmusException {
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches()) {
      throw new LitmusException(line, "'%s' is no instruction".formatted(text), "write PTX");
    }
    Guard guard =
        shape.group(2) == null
            ? null
            : new Guard(shape.group(2), !String.valueOf(shape.group(1)).isEmpty());
    String plain = text.substring(shape.start(3)).replaceAll("\\s+", " ");
    site = new Site(line, plain, guard);
    List<String> parts = new ArrayList<>(Arrays.asList(shape.group(3).split("\\.")));
    String opcode = parts.removeFirst();
    modifiers = new LinkedHashSet<>(parts);
    operands =
        shape.group(4).isBlank()
            ? List.of()
            : Arrays.stream(shape.group(4).split(",", -1)).map(String::strip).toList();
    Instruction instruction =
        switch (opcode) {
          case "ld" -> load(Proxy.GENERIC);
          case "suld" -> load(Proxy.SURFACE);
          case "tld" -> load(Proxy.TEXTURE);
          case "cold" -> load(Proxy.CONSTANT);
          case "st" -> store(Proxy.GENERIC);
          case "sust" -> store(Proxy.SURFACE);
          case "atom" -> atomic(true);
          case "red" -> atomic(false);
          case "fence" -> fence();
          case "membar" -> new Instruction.Fence(site, Access.SC | required(SCOPES, "scope"));
          case "bar", "barrier" -> barrier();
          case "mov", "add", "sub", "and", "or", "xor" -> compute(opcode);
          case "setp" -> compare();
          case "bra" -> branch();
          case "exit", "ret" -> new Instruction.Exit(site);
          default ->
              throw error(
                  "'%s' is not known here".formatted(opcode),
                  "ld st suld sust tld cold atom red fence membar bar barrier mov add sub and or"
                      + " xor setp bra exit");
        };
    if (!modifiers.isEmpty()) {
      throw error(
          "'.%s' means nothing on this instruction".formatted(modifiers.iterator().next()),
          "leave it out; litmus locations are 32-bit words in one state space");
    }
    return instruction;
  }

  private Instruction load(Proxy proxy) throws LitmusException {
    count(2);
    return new Instruction.Load(
        site,
        operands.get(0),
        address(operands.get(1), proxy),
        access("ld", Access.RELEASE, proxy));
  }

  private Instruction store(Proxy proxy) throws LitmusException {
    count(2);
    return new Instruction.Store(
        site,
        address(operands.get(0), proxy),
        operand(operands.get(1)),
        access("st", Access.ACQUIRE, proxy));
  }

  private int access(String opcode, int impossible, Proxy proxy) throws LitmusException {
    word();
    Integer semantics = optional(SEMANTICS);
    if (proxy != Proxy.GENERIC && semantics != null && semantics != Access.WEAK) {
      throw error("accesses by the %s proxy are weak".formatted(proxy.text()), "write .weak");
    }
    if (semantics != null && semantics == Access.MMIO) {
      modifiers.remove("relaxed");
    }
    Integer scope = optional(SCOPES);
    int kind = semantics == null ? Access.WEAK : semantics;
    if (kind == impossible || kind == Access.ACQ_REL || kind == Access.SC) {
      throw error("%s cannot be .%s".formatted(opcode, Access.name(kind)), "see the PTX ISA");
    }
    boolean unscoped = kind == Access.WEAK || kind == Access.VOLATILE;
    if (unscoped != (scope == null) && kind != Access.MMIO) {
      throw error(
          "%s.%s %s a scope".formatted(opcode, Access.name(kind), unscoped ? "has not" : "needs"),
          unscoped ? "leave the scope out" : "add .cta, .cluster, .gpu or .sys");
    }
    if (kind == Access.MMIO && scope != null && scope != Access.SYS) {
      throw error(opcode + ".mmio has scope .sys alone", "write .mmio.relaxed.sys");
    }
    return switch (kind) {
      case Access.WEAK -> Access.WEAK;
      case Access.VOLATILE, Access.MMIO -> kind | Access.SYS;
      default -> kind | (scope == null ? Access.SYS : scope);
    };
  }

  private Instruction atomic(boolean returns) throws LitmusException {
    word();
    Rmw operation = rmw(modifiers.remove("s32"));
    Integer semantics = optional(SEMANTICS);
    Integer scope = optional(SCOPES);
    int kind = semantics == null ? Access.RELAXED : semantics;
    boolean possible =
        returns
            ? kind == Access.RELAXED
                || kind == Access.ACQUIRE
                || kind == Access.RELEASE
                || kind == Access.ACQ_REL
            : kind == Access.RELAXED || kind == Access.RELEASE;
    if (!possible) {
      throw error(
          "%s cannot be .%s".formatted(returns ? "atom" : "red", Access.name(kind)),
          returns ? "relaxed, acquire, release or acq_rel" : "relaxed or release");
    }
    boolean swap = operation == Rmw.COMPARE_AND_SWAP;
    int first = returns ? 1 : 0;
    count(first + (swap ? 3 : 2));
    return new Instruction.Atomic(
        site,
        returns ? operands.getFirst() : null,
        address(operands.get(first), Proxy.GENERIC),
        operation,
        operand(operands.get(first + (swap ? 2 : 1))),
        swap ? operand(operands.get(first + 1)) : null,
        kind | (scope == null ? Access.GPU : scope));
  }

  private Rmw rmw(boolean signed) throws LitmusException {
    for (String modifier : modifiers) {
      Rmw operation = OPERATIONS.get(modifier);
      if (operation != null) {
        modifiers.remove(modifier);
        if (signed && operation == Rmw.MIN_UNSIGNED) {
          return Rmw.MIN_SIGNED;
        }
        return signed && operation == Rmw.MAX_UNSIGNED ? Rmw.MAX_SIGNED : operation;
      }
    }
    throw error("the atomic has no operation", "add exch cas and or xor min max inc dec");
  }

  private Instruction fence() throws LitmusException {
    if (modifiers.remove("proxy")) {
      return proxyFence();
    }
    Integer semantics = optional(SEMANTICS);
    int kind = semantics == null ? Access.ACQ_REL : semantics;
    if (kind != Access.SC
        && kind != Access.ACQ_REL
        && kind != Access.ACQUIRE
        && kind != Access.RELEASE) {
      throw error("fence cannot be ." + Access.name(kind), "sc, acq_rel, acquire or release");
    }
    return new Instruction.Fence(site, kind | required(SCOPES, "scope"));
  }

  private Instruction proxyFence() throws LitmusException {
    if (modifiers.remove("alias")) {
      return new Instruction.ProxyFence(site, Proxy.GENERIC);
    }
    for (Proxy proxy : List.of(Proxy.SURFACE, Proxy.TEXTURE, Proxy.CONSTANT)) {
      if (modifiers.remove(proxy.text())) {
        return new Instruction.ProxyFence(site, proxy);
      }
    }
    throw error(
        "fence.proxy does not say which proxy",
        "add .alias, .surface, .texture or .constant; the async and tensormap proxies are not"
            + " modelled");
  }

  private Instruction barrier() throws LitmusException {
    modifiers.remove("cta");
    modifiers.remove("aligned");
    modifiers.removeAll(List.of("u32", "pred"));
    boolean red = modifiers.remove("red");
    BarrierKind kind = null;
    for (BarrierKind candidate : BarrierKind.values()) {
      String word = candidate.name().replace("RED_", "").toLowerCase(java.util.Locale.ROOT);
      if (modifiers.remove(word)) {
        kind = candidate;
      }
    }
    if (kind == null || red != kind.name().startsWith("RED")) {
      throw error("the barrier does nothing known", "bar.sync, bar.arrive or bar.red.popc");
    }
    // bar.sync a{, b}   bar.arrive a, b   bar.red d, a{, b}, p
    int first = red ? 1 : 0;
    int last = operands.size() - (red ? 1 : 0);
    boolean counted = last - first == 2;
    if (last - first < 1 || last - first > 2 || (kind == BarrierKind.ARRIVE && !counted)) {
      throw error(
          "the barrier has %d operands".formatted(operands.size()),
          "bar.sync id {, count}; bar.arrive id, count; bar.red r, id {, count}, p");
    }
    Operand id = within(operands.get(first), 0, Barrier.LAST_ID);
    Operand count = counted ? within(operands.get(first + 1), 1, MOST_THREADS) : null;
    String target = red ? operands.getFirst() : null;
    return new Instruction.Barrier(
        site, kind, id, count, target, red ? operand(operands.getLast()) : null);
  }

  private Instruction compute(String opcode) throws LitmusException {
    word();
    modifiers.remove("s32");
    modifiers.remove("pred");
    boolean move = opcode.equals("mov");
    count(move ? 2 : 3);
    Operand a = operand(operands.get(1));
    Arithmetic operation = Arithmetic.valueOf(opcode.toUpperCase(java.util.Locale.ROOT));
    return new Instruction.Compute(
        site, operands.getFirst(), operation, a, move ? a : operand(operands.get(2)), false);
  }

  private Instruction compare() throws LitmusException {
    boolean signed = modifiers.remove("s32");
    word();
    count(3);
    for (Arithmetic operation : Arithmetic.values()) {
      boolean comparison = operation.compareTo(Arithmetic.EQ) >= 0;
      if (comparison && modifiers.remove(operation.name().toLowerCase(java.util.Locale.ROOT))) {
        return new Instruction.Compute(
            site,
            operands.getFirst(),
            operation,
            operand(operands.get(1)),
            operand(operands.get(2)),
            signed);
      }
    }
    throw error("setp has no comparison", "add .eq, .ne, .lt, .le, .gt or .ge");
  }

  private Instruction branch() throws LitmusException {
    modifiers.remove("uni");
    count(1);
    Integer target = labels.get(operands.getFirst());
    if (target == null) {
      throw error(
          "there is no label '%s' in this column".formatted(operands.getFirst()),
          "write %s: before an instruction".formatted(operands.getFirst()));
    }
    return new Instruction.Branch(site, target);
  }

  /** Takes type and state space away; all locations are 32-bit words. */
  private void word() {
    modifiers.removeAll(SPACES);
    modifiers.removeIf(modifier -> WORDS.contains(modifier) && !modifier.equals("s32"));
    if (!site.text().startsWith("atom") && !site.text().startsWith("red")) {
      modifiers.remove("s32");
    }
  }

  private @Nullable Integer optional(Map<String, Integer> table) {
    // .mmio and .volatile go before .relaxed: mmio.relaxed.sys is one word for one thing
    for (String first : List.of("mmio", "volatile")) {
      if (table.containsKey(first) && modifiers.remove(first)) {
        return table.get(first);
      }
    }
    for (String modifier : modifiers) {
      Integer value = table.get(modifier);
      if (value != null) {
        modifiers.remove(modifier);
        return value;
      }
    }
    return null;
  }

  private int required(Map<String, Integer> table, String what) throws LitmusException {
    Integer value = optional(table);
    if (value == null) {
      throw error("the %s is missing".formatted(what), "add .cta, .cluster, .gpu or .sys");
    }
    return value;
  }

  private Address address(String text, Proxy proxy) throws LitmusException {
    Matcher name = Pattern.compile("\\[?\\s*([A-Za-z_]\\w*)\\s*]?").matcher(text);
    if (!name.matches() || isRegister(name.group(1))) {
      throw error(
          "'%s' is no location".formatted(text),
          "name one, as x or [x]; names r0, r1, p0 ... are registers");
    }
    Address address = addresses.apply(name.group(1));
    if (address.proxy() == Proxy.GENERIC) {
      return new Address(address.location(), address.virtual(), proxy);
    }
    if (address.proxy() != proxy) {
      throw error(
          "'%s' is a name of the %s proxy".formatted(name.group(1), address.proxy().text()),
          "declare a name for the %s proxy: { s @ %s aliases x; }"
              .formatted(proxy.text(), proxy.text()));
    }
    return address;
  }

  private static boolean isRegister(String name) {
    return name.matches("%?[rp]\\d+");
  }

  private Operand operand(String text) throws LitmusException {
    Integer number = Numbers.parse(text);
    if (number != null) {
      return new Operand.Constant(number);
    }
    if (!isRegister(text)) {
      throw error(
          "'%s' is no operand".formatted(text), "write a number or a register r0, r1, p0 ...");
    }
    return new Operand.Register(text);
  }

  /** A barrier's operand: a register, or a number in bounds. */
  private Operand within(String text, int least, int most) throws LitmusException {
    Operand operand = operand(text);
    if (operand instanceof Operand.Constant(int value) && (value < least || value > most)) {
      throw error(
          "'%s' is no number between %d and %d".formatted(text, least, most),
          "a CTA has barriers 0 to 15; a count is of columns");
    }
    return operand;
  }

  private void count(int expected) throws LitmusException {
    if (operands.size() != expected) {
      throw error("%d operands, not %d".formatted(operands.size(), expected), "see the PTX ISA");
    }
  }

  private LitmusException error(String what, String fix) {
    return new LitmusException(site.line(), "%s: %s".formatted(site.text(), what), fix);
  }
}
