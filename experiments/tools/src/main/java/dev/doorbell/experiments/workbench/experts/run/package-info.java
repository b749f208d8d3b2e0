/** The service behind exchanges of tokens: worlds of the virtual machine and software HCAs. */
@NullMarked
package dev.doorbell.experiments.workbench.experts.run;

import org.jspecify.annotations.NullMarked;
