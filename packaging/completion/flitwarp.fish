# Completion for fish. What there is to complete, the program says itself.
complete -c flitwarp -a '(flitwarp complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
