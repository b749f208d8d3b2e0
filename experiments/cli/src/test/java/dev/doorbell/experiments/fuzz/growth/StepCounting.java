package dev.doorbell.experiments.fuzz.growth;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An agent that makes readers, and the libraries that they use, count their steps. */
public final class StepCounting implements ClassFileTransformer {
  private static final List<String> COUNTED =
      List.of(
          "dev/doorbell/",
          "tools/jackson/",
          "com/networknt/",
          "org/snakeyaml/",
          "org/yaml/",
          "de/siegmar/",
          "com/sun/org/apache/xerces/internal/",
          "java/util/regex/");
  private static final String SELF = "dev/doorbell/experiments/fuzz/";
  private static final ClassDesc STEPS = ClassDesc.of("dev.doorbell.experiments.fuzz.growth.Steps");

  private StepCounting() {}

  /**
   * Entry point of the virtual machine.
   *
   * @throws Exception when a class that was loaded before cannot be changed
   */
  public static void premain(String arguments, Instrumentation instrumentation) throws Exception {
    instrumentation.addTransformer(new StepCounting(), true);
    instrumentation.retransformClasses(
        Arrays.stream(instrumentation.getAllLoadedClasses())
            .filter(each -> each.getName().startsWith("java.util.regex."))
            .filter(instrumentation::isModifiableClass)
            .toArray(Class<?>[]::new));
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      String name,
      @Nullable Class<?> before,
      @Nullable ProtectionDomain domain,
      byte[] bytes) {
    if (name == null || name.startsWith(SELF) || COUNTED.stream().noneMatch(name::startsWith)) {
      return null;
    }
    try {
      ClassLoader from = loader == null ? ClassLoader.getSystemClassLoader() : loader;
      ClassFile files =
          ClassFile.of(
              ClassFile.ClassHierarchyResolverOption.of(
                  ClassHierarchyResolver.ofResourceParsing(from)
                      .orElse(ClassHierarchyResolver.defaultResolver())));
      return files.transformClass(
          files.parse(bytes), ClassTransform.transformingMethodBodies(new Counting()));
    } catch (IllegalArgumentException _) {
      return null; // a method that is too long with it counts nothing
    }
  }

  private static final class Counting implements CodeTransform {
    @Override
    public void atStart(CodeBuilder code) {
      step(code);
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      if (element instanceof BranchInstruction) {
        step(code);
      }
      code.with(element);
    }

    private static void step(CodeBuilder code) {
      code.invokestatic(STEPS, "step", MethodTypeDesc.of(ConstantDescs.CD_void));
    }
  }
}
