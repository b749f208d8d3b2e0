/** {@code doorbell validate-model}. */
@NullMarked
package dev.doorbell.experiments.cli.validation;

import org.jspecify.annotations.NullMarked;
