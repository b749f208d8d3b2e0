package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.core.fabric.Fabric.Pipeline;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.KernelScope;
import dev.doorbell.ptxvm.engine.machine.Cta.Windows;
import dev.doorbell.ptxvm.engine.machine.KernelCode;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.KernelImage;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.machine.SpecialRegister;
import dev.doorbell.ptxvm.engine.ops.OpTable;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Opcode;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.memory.Layout;
import dev.doorbell.ptxvm.memory.ModuleMemory;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Links a kernel: its own operations and those of every function it may call, one register file for
 * all of them, constants and launch constants in slots of their own.
 */
public final class KernelLinker {
  /** CUDA Programming Guide, technical specifications: local memory of a thread. */
  private static final long MOST_LOCAL_BYTES = 512 << 10;

  private final ModuleAnalysis analysis;
  private final PtxModule module;
  private final CallGraph graph;
  private final Function root;
  private final KernelScope scope;
  private final List<Instruction> places = new ArrayList<>();
  private final Refusals refusals;

  private KernelLinker(ModuleAnalysis analysis, Function root, Refusals refusals) {
    this.analysis = analysis;
    this.module = analysis.module;
    this.graph = analysis.calls;
    this.root = root;
    this.scope = new KernelScope(module);
    this.refusals = refusals;
  }

  /**
   * Checks every function of a module once, and links the kernels that share none of them with one
   * before: in a library of hundreds of kernels, each of which may call all functions, the others
   * are linked when they are asked for. Nothing in the result depends on where the module is
   * loaded.
   *
   * @param refusals gets what cannot be run
   */
  public static Map<String, LinkedKernel> check(
      ModuleAnalysis analysis, LinkOptions options, Refusals refusals) {
    Map<String, LinkedKernel> kernels = new HashMap<>();
    Set<String> reached = new HashSet<>();
    for (boolean entries : new boolean[] {true, false}) {
      for (Function function : analysis.module.functions().values()) {
        if (function.defined()
            && function.entry() == entries
            && !reached.contains(function.name())) {
          KernelLinker linker = new KernelLinker(analysis, function, refusals);
          LinkedKernel code = linker.link(options, reached);
          if (entries && code != null) {
            kernels.put(function.name(), code);
          }
          reached.addAll(linker.scope.functions().keySet());
        }
      }
    }
    return kernels;
  }

  /**
   * Links one kernel of a module that {@link #check} did not refuse: a copy of its own, which a
   * compiler may change.
   *
   * @param kernel its name
   */
  public static LinkedKernel link(ModuleAnalysis analysis, String kernel, LinkOptions options) {
    Function root = Objects.requireNonNull(analysis.module.functions().get(kernel), kernel);
    Refusals refusals = new Refusals(new TreeMap<>(), new TreeMap<>());
    KernelLinker linker = new KernelLinker(analysis, root, refusals);
    LinkedKernel linked = Objects.requireNonNull(linker.link(options, Set.of()));
    linker.requireRuns();
    return linked;
  }

  /** Refuses functions that were parsed late and cannot be run. */
  private void requireRuns() {
    if (!refusals.atLoad().isEmpty()) {
      List<Refusal> refused = List.copyOf(refusals.atLoad().values());
      refusals.atLoad().clear();
      throw new GpuException(Refusal.describe(module, refused));
    }
  }

  /** Functions that threads call through pointers are linked when the first one does. */
  private final class Late implements KernelScope.LateCalls {
    private final LinkOptions options;
    private final Map<Long, String> names = new HashMap<>();

    /** Why functions cannot be called, by name. */
    private final Map<String, String> refused = new HashMap<>();

    Late(LinkOptions options) {
      this.options = new LinkOptions(options.stackBytes(), false, options.pipeline());
      for (String name : module.functions().keySet()) {
        names.put(ModuleMemory.FUNCTIONS + (long) names.size() * ModuleMemory.FUNCTION_STEP, name);
      }
    }

    @Override
    public synchronized @Nullable LinkedFunction function(long address) {
      String name = names.get(address);
      if (name == null) {
        return null;
      }
      String reason = refused.get(name);
      if (reason != null) {
        throw new GpuException(reason);
      }
      try {
        add(graph.reachable(name));
      } catch (GpuException e) {
        refused.put(name, String.valueOf(e.getMessage()));
        throw e;
      }
      return scope.function(name);
    }

    private void add(List<Function> functions) {
      List<Function> fresh =
          functions.stream().filter(each -> scope.function(each.name()) == null).toList();
      Set<Variable> shared = sharedNamed(fresh);
      for (Function function : fresh) {
        if (!function.shared().isEmpty() || !shared.stream().allMatch(scope.shared()::has)) {
          throw new GpuException(
              "'%s' has shared memory of its own and is called through a pointer: that is not"
                      .formatted(function.name())
                  + " supported in a module of this size");
        }
      }
      Map<LinkedFunction, ModuleAnalysis.OfFunction> linked = new LinkedHashMap<>();
      for (Function function : fresh) {
        ModuleAnalysis.OfFunction facts = analysis.of(function);
        int first = scope.reserve(facts.slots().count());
        boolean recursive = graph.isRecursive(function.name());
        LinkedFunction added = new LinkedFunction(function, facts.slots(), first, recursive);
        linked.put(added, facts);
        scope.addLate(added);
      }
      assemble(linked, options, Set.of());
      requireRuns();
    }

    @Override
    public synchronized int slots() {
      return scope.slots();
    }

    synchronized long[] constants(ToLongFunction<Variable> addressOf) {
      return filled(scope.registers(), scope.variables(), addressOf);
    }
  }

  /**
   * Links the kernel; nothing where some of its functions are known already and left out.
   *
   * @param known names of functions that were checked before
   */
  private @Nullable LinkedKernel link(LinkOptions options, Set<String> known) {
    if (root.entry()) {
      scope.parameters().add(root.parameters());
    }
    List<Function> functions = graph.reachable(root.name());
    Late late = graph.callsLate(root.name()) ? new Late(options) : null;
    if (late != null) {
      scope.linkLate(late);
    }
    layOutShared(functions);
    Map<LinkedFunction, ModuleAnalysis.OfFunction> linkedFunctions = new LinkedHashMap<>();
    Map<String, Integer> firstSlots =
        graph.firstSlots(functions, function -> analysis.of(function).slots().count());
    for (Function function : functions) {
      ModuleAnalysis.OfFunction facts = analysis.of(function);
      String name = function.name();
      LinkedFunction linked =
          new LinkedFunction(
              function,
              facts.slots(),
              Objects.requireNonNull(firstSlots.get(name), name),
              graph.isRecursive(name));
      linkedFunctions.put(linked, facts);
      scope.add(linked);
    }
    assemble(linkedFunctions, options, known);
    if (functions.stream().anyMatch(function -> known.contains(function.name()))) {
      return null;
    }
    long[] registers = scope.registers();
    BitSet specials = new BitSet();
    scope.specials().values().forEach(specials::set);
    long local = graph.stackBytes(root.name(), scope.functions(), options.stackBytes());
    if (local > MOST_LOCAL_BYTES) {
      String reason =
          "'%s' and what it calls take %d bytes of local memory a thread, at most %d are possible"
              .formatted(root.name(), local, MOST_LOCAL_BYTES);
      refusals
          .atLoad()
          .putIfAbsent(root.line(), new Refusal(root.line(), module.text(root.line()), reason));
    }
    KernelImage image =
        new KernelImage(
            module,
            root.name(),
            scope.parameters(),
            root.parameters(),
            registers,
            scope.written(),
            scope.specials().entrySet().stream()
                .map(each -> new KernelImage.Special(each.getKey(), each.getValue()))
                .toArray(KernelImage.Special[]::new),
            places,
            scope.shared().bytes(),
            local,
            null);
    Program program =
        new Program(List.copyOf(linkedFunctions.keySet()), scope.poolStart(), registers, specials);
    return new LinkedKernel(
        image, program, scope.variables(), late == null ? null : late::constants);
  }

  private void assemble(
      Map<LinkedFunction, ModuleAnalysis.OfFunction> functions,
      LinkOptions options,
      Set<String> known) {
    functions.forEach(
        (function, facts) -> {
          if (!known.contains(function.function.name())) {
            Assembler assembler = new Assembler(scope, function, facts.loops());
            new FunctionLinker(this, function, assembler).run(facts.flow(), options);
            function
                .function
                .refusals()
                .forEach(each -> refusals.atLoad().putIfAbsent(each.line(), each));
          }
        });
  }

  private void layOutShared(List<Function> functions) {
    Layout shared = scope.shared();
    List<Variable> dynamic = new ArrayList<>();
    if (readsReserved(functions)) {
      shared.skip(Windows.RESERVED_BYTES);
    }
    Set<Variable> used = sharedNamed(functions);
    for (Variable variable : module.variables()) {
      if (variable.space() == StateSpace.SHARED) {
        if (variable.external() || variable.bytes() == 0) {
          dynamic.add(variable);
        } else if (scope.late() != null || used.contains(variable)) {
          shared.add(variable);
        }
      }
    }
    for (Function function : functions) {
      for (Variable variable : function.shared()) {
        if (variable.bytes() == 0) {
          dynamic.add(variable);
        } else {
          shared.add(variable);
        }
      }
    }
    shared.align(dynamic.stream().mapToInt(Variable::align).reduce(16, Math::max));
    for (Variable variable : dynamic) {
      shared.put(variable, shared.bytes());
    }
  }

  private static Stream<Operand> operands(List<Function> functions) {
    return functions.stream()
        .flatMap(function -> function.code().stream())
        .flatMap(instruction -> instruction.operands().stream());
  }

  private static boolean readsReserved(List<Function> functions) {
    return operands(functions)
        .anyMatch(
            operand ->
                operand instanceof Operand.Special(String name)
                    && SpecialRegister.isReserved(name));
  }

  private static Set<Variable> sharedNamed(List<Function> functions) {
    Set<Variable> named = new HashSet<>();
    operands(functions)
        .map(operand -> operand instanceof Operand.Address(Operand base, _) ? base : operand)
        .forEach(
            operand -> {
              if (operand instanceof Operand.Symbol symbol
                  && symbol.variable().space() == StateSpace.SHARED) {
                named.add(symbol.variable());
              }
            });
    return named;
  }

  int place(Instruction instruction) {
    places.add(instruction);
    return places.size() - 1;
  }

  /** The file cannot be loaded because of an instruction. */
  void refuse(Instruction instruction, String reason) {
    add(refusals.atLoad(), instruction, reason);
  }

  /** A thread that gets to an instruction stops the kernel. */
  void stops(Instruction instruction, String reason) {
    add(refusals.atExecution(), instruction, reason);
  }

  private void add(Map<Integer, Refusal> to, Instruction instruction, String reason) {
    to.putIfAbsent(
        instruction.line(),
        new Refusal(
            instruction.line(), module.text(instruction.line()), reason, instruction.source()));
  }

  /**
   * Parts of a file that cannot be run, by line.
   *
   * @param atLoad the file is refused
   * @param atExecution a thread that gets there stops its kernel
   */
  public record Refusals(Map<Integer, Refusal> atLoad, Map<Integer, Refusal> atExecution) {}

  /**
   * Options of linking.
   *
   * @param stackBytes local memory for the frames of recursive functions
   * @param loadsAhead whether loads may be under way while their thread goes on
   * @param pipeline how instructions of a thread follow each other
   */
  public record LinkOptions(long stackBytes, boolean loadsAhead, Pipeline pipeline) {
    /** The same where instructions take no time. */
    public static LinkOptions untimed(long stackBytes, boolean loadsAhead) {
      return new LinkOptions(stackBytes, loadsAhead, Pipeline.NONE);
    }
  }

  /** Decodes the instructions of one function into operations and links them. */
  static final class FunctionLinker {
    private final KernelLinker kernel;
    private final LinkedFunction function;
    private final Assembler assembler;

    FunctionLinker(KernelLinker kernel, LinkedFunction function, Assembler assembler) {
      this.kernel = kernel;
      this.function = function;
      this.assembler = assembler;
    }

    void run(ControlFlow flow, LinkOptions options) {
      List<Instruction> code = function.function.code();
      List<@Nullable Op> ops = new ArrayList<>();
      for (Instruction instruction : code) {
        assembler.at = ops.size();
        ops.add(decode(instruction));
      }
      if (options.loadsAhead()) {
        ScoreboardPass.apply(code, flow, ops, function::slot);
      }
      if (options.pipeline().known()) {
        IssuePass.apply(function.function, flow, ops, options.pipeline());
      }
      Op after = null;
      for (Op op : ops.reversed()) {
        if (op != null) {
          op.follow(after);
        }
        after = op;
      }
      function.ops = ops;
      function.first = after;
      assembler.link();
    }

    private @Nullable Op decode(Instruction instruction) {
      try {
        int place = kernel.place(instruction);
        Op op = make(instruction);
        if (op instanceof Stop stop) {
          kernel.stops(instruction, stop.reason());
        }
        op.place = place;
        if (instruction.guard() == null || op instanceof Branch) {
          return op;
        }
        int predicate = assembler.slot(instruction.guard().predicate());
        Guarded guarded = Guarded.of(op, predicate, instruction.guard().negated());
        guarded.place = place;
        return guarded;
      } catch (Unsupported e) {
        kernel.refuse(instruction, String.valueOf(e.getMessage()));
        return null;
      }
    }

    /** The operation; one that stops its thread where PTX has a form that the engine has not. */
    private Op make(Instruction instruction) throws Unsupported {
      if (!Opcode.of(instruction.name()).known()) {
        throw new Unsupported("instruction not supported");
      }
      try {
        return OpTable.make(instruction, assembler);
      } catch (Unsupported e) {
        if (e.isMalformed()) {
          throw e;
        }
        return new Stop(String.valueOf(e.getMessage()));
      }
    }
  }

  /**
   * A kernel with all of its operations, for any number of GPUs: what differs between them are the
   * addresses of variables, which lie in slots of the register file.
   *
   * <p>Interpreting it changes nothing in it, so that threads of different GPUs may execute it at
   * the same time. A compiler links code into the operations: a kernel that may be compiled is
   * linked for one GPU alone.
   *
   * @param image its constants at the addresses of variables are 0
   * @param variables slots of addresses
   * @param late constants at given addresses of variables, of all functions that were linked until
   *     then, where more may be linked; else null
   */
  public record LinkedKernel(
      KernelImage image,
      Program program,
      List<KernelScope.VariableSlot> variables,
      java.util.function.@Nullable Function<ToLongFunction<Variable>, long[]> late) {

    public LinkedKernel {
      variables = List.copyOf(variables);
    }

    /** Returns the kernel of a module whose variables are where {@code addressOf} says. */
    public KernelCode at(ToLongFunction<Variable> addressOf) {
      long[] constants = filled(image.constants().clone(), variables, addressOf);
      Supplier<long[]> grown = late == null ? null : () -> late.apply(addressOf);
      return new KernelCode(image.with(constants, grown), program.with(constants));
    }
  }

  private static long[] filled(
      long[] constants,
      List<KernelScope.VariableSlot> variables,
      ToLongFunction<Variable> addressOf) {
    for (KernelScope.VariableSlot each : variables) {
      constants[each.slot()] = addressOf.applyAsLong(each.variable()) + each.offset();
    }
    return constants;
  }
}
