package dev.doorbell.experiments.run;

import java.lang.reflect.Constructor;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.module.SimpleModule;

/**
 * Creates the records of a run directory by reflection. Jackson itself calls a constructor by a
 * method handle, for which the JDK writes some ten classes for each record: more work than reading
 * the file.
 */
final class RecordsByReflection extends SimpleModule {
  private static final long serialVersionUID = 1;

  @Override
  public void setupModule(SetupContext context) {
    super.setupModule(context);
    context.addValueInstantiators(
        new ValueInstantiators.Base() {
          @Override
          public ValueInstantiator modifyValueInstantiator(
              DeserializationConfig config,
              BeanDescription.Supplier type,
              ValueInstantiator usual) {
            return type.getBeanClass().isRecord() && usual instanceof StdValueInstantiator known
                ? new OfRecord(known)
                : usual;
          }
        });
  }

  private static final class OfRecord extends StdValueInstantiator {
    OfRecord(StdValueInstantiator usual) {
      super(usual);
    }

    @Override
    public Object createFromObjectWith(DeserializationContext context, Object[] arguments)
        throws JacksonException {
      if (!(_withArgsCreator.getAnnotated() instanceof Constructor<?> constructor)) {
        return super.createFromObjectWith(context, arguments);
      }
      try {
        return constructor.newInstance(arguments);
      } catch (ReflectiveOperationException | IllegalArgumentException e) {
        return context.handleInstantiationProblem(
            _valueClass, arguments, rewrapCtorProblem(context, e));
      }
    }
  }
}
