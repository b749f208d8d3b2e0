/** Makes the worlds of programs over their fabrics. */
@NullMarked
package dev.doorbell.experiments.workbench.programs.run;

import org.jspecify.annotations.NullMarked;
