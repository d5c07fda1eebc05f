module birthmark

go 1.19
