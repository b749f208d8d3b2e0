/** {@code doorbell hca}: HCAs that are processes of their own, and programs that use them. */
@NullMarked
package dev.doorbell.experiments.cli.hca;

import org.jspecify.annotations.NullMarked;
