# Completion of shiplap in fish. The program itself says what can follow.
function __shiplap_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c shiplap -a '(__shiplap_complete)'
